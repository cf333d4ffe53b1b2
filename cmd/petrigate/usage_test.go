package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/petrigate/petrigate/internal/messagetest"
)

// misusedCommands contains command lines with incorrect usage.
var misusedCommands = [][]string{
	{"frob"},
	{"serv"},
	{"status", "now"},
	{"completion"},
	{"connect"},
	{"connect", "cursor", "--all-servers", "--only", "a"},
	{"connect", "codex", "--hooks", "--all-servers"},
	{"connect", "codex", "--hooks", "--service", "--no-service"},
	{"connect", "codex", "--no-service"},
	{"import", "clod", "--permissions"},
	{"import", "codex", "--permissions", "--json"},
	{"init", "emacs"},
	{"init", "codex", "--test", "npm test | tail"},
	{"init", "codex", "--tools", "tools.json"},
	{"init", "--test", "npm test"},
	{"init", "--pipefail"},
	{"enforce", "--config", "denied.yaml", "--yes"},
	{"doctor", "--yes"},
	{"doctor"},
	{"check", "--live", "open"},
	{"serve", "open"},
	{"connect", "cursor", "--header", "Bearer x"},
	{"approvals", "aprove", "ap_1"},
	{"approvals", "show", "a", "b"},
	{"approvals", "approve"},
	{"approvals", "approve", "--yes"},
	{"approvals", "approve", ""},
	{"approvals", "approve", "ap_1"},
	{"approvals", "watch"},
	{"approvals", "approve", "ap_1", "--yes", "--like", "path"},
	{"approvals", "approve", "ap_1", "--yes", "--for", "0s"},
	{"tools", "accept", "files.read"},
	{"sessions", "reset", ""},
	{"sessions", "settle", "x", "y", "--success"},
	{"check", "--strikt"},
	{"check", "--rules"},
	{"check", "nosuch.rules"},
	{"check", "notes.txt"},
	{"check", "empty"},
	{"check", "petrigate.yaml", "nets.json"},
	{"analyze", "a.rules"},
	{"serve", "a.rules"},
	{"serve", "petrigate.yaml", "petrigate.yaml"},
	{"check", "a.rules", "--config", "petrigate.yaml"},
	{"check", "a.rules", "--live"},
	{"explain", "rm", "--rules", "a.rules", "--config", "petrigate.yaml"},
	{"explain", "rm", "--rules", "a.rules", "--args", "[1]"},
	{"explain", "rm", `{"all": true}`, "--rules", "a.rules"},
	{"explain", "rm", "--rules", "a.rules", "--after", "backup,,rm"},
	{"explain", "rm", "--rules", "a.rules", "--after", "backup{}rm"},
	{"explain", "rm", "--rules", "a.rules", "--after", "backup{path: a}"},
	{"graph", "--rules", "a.rules", "--config", "petrigate.yaml"},
	{"graph", "--rules", "a.rules", "--only", "block-rmm"},
	{"analyze", "nets.yaml"},
	{"analyze", "nets.yaml", "--net", "on"},
	{"analyze", "nets.yaml", "--max-states", "0"},
	{"eval"},
	{"audit", "query", "a.rules", "--since", "yesterday"},
	{"replay", "a.jsonl", "--rules", "a.rules", "--config", "petrigate.yaml"},
	{"audit", "query", "a.rules", "--until", "3 o'clock"},
	{"audit", "verify", "--config", "petrigate.yaml"},
	{"fmt", "-w", "-d", "a.rules"},
	{"fmt", "-w", "-"},
	{"test", "a.rules"},
	{"test", "--min-cover", "101"},
	{"test", "--run", "("},
	{"login"},
	{"login", "files", "--url", "https://h.example/mcp"},
	{"login", "files", "--list"},
	{"login", "files", "--json"},
	{"login", "files", "--timeout", "0s"},
	{"login", "filse", "--config", "petrigate.yaml"},
	{"serve", "--auth", "tokn"},
	{"serve", "--http", "7777"},
	{"wrap"},
	{"wrap", "--config", "petrigate.yaml", "--", "server"},
	{"wrap", "npx", "--", "server"},
	{"wrap", "--stdio"},
	{"wrap", "--quiet", "--log-level", "debug", "--", "server"},
	{"stop", "--config", "petrigate.yaml", "--proxy", "7"},
	{"wrap", "--url", "https://h.example/mcp", "--", "server"},
	{"suggest", "--yes"},
	{"suggest", "--apply", "--json"},
	{"suggest", "--min-sessions", "0"},
}

// TestUsageErrors compares all usage messages with the golden file. Nothing may be written to
// standard output.
func TestUsageErrors(t *testing.T) {
	golden, err := os.ReadFile("testdata/usage.txt")
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	write(t, "a.rules", "block rm\n")
	write(t, "nets.yaml", "- { name: one }\n- { name: other }\n")
	write(t, "notes.txt", "")
	write(t, "nets.json", "{}")
	for _, folder := range []string{"empty", "open"} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, "open/petrigate.yaml", "version: 1\n")
	if err := os.Chmod("open/petrigate.yaml", 0o666); err != nil {
		t.Fatal(err)
	}
	write(t, "denied.yaml", "mode: shadow\ndefault: deny\nlisten: { http: \"127.0.0.1:7777\", hooks: true }\nrules: limit claude-code.Bash to 5 in a row\n")
	write(t, "petrigate.yaml", "mcpServers: { files: { url: \"https://files.example/mcp\" } }\nstate: { driver: memory }\n")
	var b strings.Builder
	for _, args := range misusedCommands {
		var out, errs bytes.Buffer
		code := run(t.Context(), args, stdio{in: strings.NewReader(""), out: &out, err: &errs})
		if code != exitUsage || out.Len() > 0 {
			t.Errorf("%q: exit code %d, output %q", args, code, out.String())
		}
		fmt.Fprintf(&b, "%s\n%s\n", strings.Join(args, " "), errs.String())
	}
	if *updateScripts {
		t.Chdir(here)
		write(t, "testdata/usage.txt", b.String())
		return
	}
	if diff := cmp.Diff(string(golden), b.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestEveryUsageError finds usage errors that the golden file does not show.
func TestEveryUsageError(t *testing.T) {
	shown := messagetest.Text(t, "testdata/usage.txt") + "error parsing regexp: " // the code removes this prefix
	const two = "testdata/script/two.txtar: it wants proxies that run"
	messagetest.CheckCalls(t, []string{"usage"}, shown, map[string]string{
		"--pipefail has no effect here: no test command was found, %s's hooks cannot change a script, or the configuration already has a policy or the key shell": "testdata/script/initagent.txtar: it wants a project",
		"the proxy requires its PIN, and standard input is not a terminal; use --pin-stdin to read the PIN from standard input":                                   "testdata/script/approvalspin.txtar: it wants a proxy that runs",
		"%s each require their own PIN, and --pin-stdin reads only one; choose a proxy with --proxy":                                                              "testdata/script/pinorders.txtar: it wants proxies that run",
		"no running proxy with the process id %d has %s; choose one of: %s":                                                                                       two,
		"%d running proxies have %s; choose one of: %s":                                                                                                           two,
	}, "*.go")
}
