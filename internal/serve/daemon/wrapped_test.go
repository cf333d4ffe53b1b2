package daemon

import (
	"strings"
	"testing"
)

// TestWrapNamesServers checks that a server started by a package runner is named after the package,
// because questions and records contain that name.
func TestWrapNamesServers(t *testing.T) {
	for command, want := range map[string]string{
		"npx -y @modelcontextprotocol/server-filesystem /some/folder": "filesystem",
		"npx --yes -p typescript @scope/tool@1.2.3":                   "tool",
		"npx server-everything@latest":                                "everything",
		"npx mcp-server-":                                             "server-",
		"npx -y":                                                      "server",
		"npx @scope/":                                                 "server",
		"uvx mcp-server-git --repository .":                           "git",
		"uvx --from git+https://example.com/x.git[extra] serena-mcp":  "serena",
		"uv tool run duckdb-mcp==1.0":                                 "duckdb",
		"bunx github-mcp-server":                                      "github",
		"/usr/local/bin/files.exe npx":                                "files",
		"python -m server":                                            "python",
		"pipx run a\x1bb":                                             "server",
	} {
		got, err := Wrapped("", "", "auto", strings.Fields(command))
		if err != nil || got.Name != want {
			t.Errorf("%s: %q, %v; want %q", command, got.Name, err, want)
		}
	}
	if got, err := Wrapped("", "https://h.example/mcp", "auto", nil); err != nil || got.Name != Unnamed {
		t.Errorf("of a URL: %q, %v", got.Name, err)
	}
}
