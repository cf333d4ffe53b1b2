package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// shellPackages names the directory where npm has installed servers that run scripts.
const shellPackages = "PETRIGATE_E2E_SHELLS"

// TestShellServers checks that a script that has failed or is still running does not count as
// evidence, regardless of what the server says about it.
func TestShellServers(t *testing.T) {
	for _, c := range []struct {
		name, program, tool, scripts string
		success                      string          // the line that petrigate check proposes
		exits                        map[string]bool // maps scripts to whether they count as evidence
	}{
		{
			name: "desktop-commander", program: "@wonderwhy-er/desktop-commander/dist/index.js", tool: "start_process",
			scripts: `{"command":%q,"timeout_ms":1000}`, success: `success start_process when "false"`,
			exits: map[string]bool{"exit 3": false, "sleep 3": false, "exit 0": false},
		},
		{
			name: "mcp-server-commands", program: "mcp-server-commands/build/index.js", tool: "run_command",
			scripts: `{"command":%q}`, exits: map[string]bool{"exit 3": false, "exit 0": true},
		},
	} {
		for script, evidence := range c.exits {
			t.Run(c.name+"/"+script, func(t *testing.T) {
				wanted(t)
				packages := os.Getenv(shellPackages)
				program := filepath.Join(packages, "node_modules", filepath.FromSlash(c.program))
				if _, err := os.Stat(program); packages == "" || err != nil {
					t.Skipf("no %s to test with: npm install @wonderwhy-er/desktop-commander@0.2.52 mcp-server-commands@0.5.0, and name the folder by %s", c.name, shellPackages)
				}
				binary, npm := need(t)
				env := ours(t)
				env["HOME"] = t.TempDir()
				upstreams := map[string]endpoint{
					"shell":      {Command: "node", Args: []string{program}, Env: env},
					"everything": scripts()[0].server(t, npm, "", false),
				}
				rules := fmt.Sprintf("require shell.%s before everything.echo\n%s\n", c.tool, c.success)
				e := serve(t, binary, upstreams, map[string]any{"rules": rules}, false)
				got := mcpgo(t, e, []step{
					{Method: "tools/call", Params: json.RawMessage(fmt.Sprintf(`{"name":%q,"arguments":`+c.scripts+`}`, "shell_"+c.tool, script))},
					{Method: "tools/call", Params: json.RawMessage(`{"name":"everything_echo","arguments":{"message":"push"}}`)},
				})
				if passed := !isError(t, got[1]); passed != evidence {
					t.Errorf("evidence: %v\n%s\n%s", passed, got[0].Result, got[1].Result)
				}
			})
		}
	}
}
