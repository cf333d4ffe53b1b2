package takeover

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSafeguards checks that import lists the client's restrictions that the configuration lacks,
// each with an equivalent rule.
func TestSafeguards(t *testing.T) {
	p := newPlace(t, "claude-code")
	p.configure(t, "version: 1\nmcpServers:\n  gh: { command: other }\n")
	p.write(t, []byte(`{"mcpServers": {"gh": {"command": "x"}, "fs": {"command": "y"}, "git": {"command": "z", "cwd": "${NOT_SET}"}}}`))
	settings := filepath.Join(p.desk.System.Home, ".claude", "settings.json")
	if err := os.MkdirAll(filepath.Dir(settings), 0o700); err != nil {
		t.Fatal(err)
	}
	for src, want := range map[string][]string{
		`{"permissions": {"deny": ["mcp__gh__delete_repo", "Bash(rm:*)", "mcp__git__push", "mcp__fs"], "ask": ["mcp__fs__write_*"], "allow": ["mcp__fs__read"]}}`: {
			"permissions.deny of " + settings + " (mcp__gh__delete_repo) is not imported; write a rule: block gh-2.delete_repo\n",
			"permissions.deny of " + settings + " (mcp__fs) is not imported; write a rule: block fs.*\n",
			"permissions.ask of " + settings + " (mcp__fs__write_*) is not imported; write a rule: require human-approval before fs.write_*\n",
		},
		`{`: {settings + " (an unreadable file: "},
		``:  nil,
	} {
		if err := os.WriteFile(settings, []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
		p.out.Reset()
		plan, err := p.desk.Plan(Import{Client: "claude-code", Config: p.config, Rename: true})
		if err != nil {
			t.Fatal(err)
		}
		output{p.desk.Out}.printResults(plan)
		said := p.out.String()
		for _, line := range want {
			if !strings.Contains(said, "note: "+line) {
				t.Errorf("%s: no %q in\n%s", src, line, said)
			}
		}
		if strings.Count(said, "permissions.") != strings.Count(strings.Join(want, ""), "permissions.") {
			t.Errorf("%s: it says\n%s", src, said)
		}
	}
}

// TestSafeguardsOfEntries checks that approval settings in a server's entry are listed under the
// server's new name, and that a server that the client disables elsewhere is disabled.
func TestSafeguardsOfEntries(t *testing.T) {
	p := newPlace(t, "codex")
	p.configure(t, "version: 1\nmcpServers:\n  db: { command: other }\n")
	p.write(t, []byte("[mcp_servers.db]\ncommand = \"x\"\ndefault_tools_approval_mode = \"prompt\"\n"))
	plan, err := p.desk.Plan(Import{Client: "codex", Config: p.config, Rename: true})
	if err != nil {
		t.Fatal(err)
	}
	output{p.desk.Out}.printResults(plan)
	if want := "note: default_tools_approval_mode (prompt) is not imported; write a rule: require human-approval before db-2.*\n"; !strings.Contains(p.out.String(), want) {
		t.Errorf("no %q in\n%s", want, p.out)
	}

	p = newPlace(t, "gemini")
	p.write(t, []byte(`{"mcp": {"excluded": ["a"]}, "tools": {"exclude": ["ShellTool"]}, "mcpServers": {"a": {"command": "x"}, "b": {"httpUrl": "https://b.example", "oauth": {"clientSecret": "s-12345678"}}}}`))
	p.take(t)
	for _, want := range []string{
		"+  a:\n+    command: \"x\"\n+    disabled: true\n", "note: mcp.excluded of Gemini CLI disables it; it is imported with disabled: true\n",
		"note: tools.exclude (ShellTool) is not imported; write a rule: block ShellTool\n",
		"note: clientSecret is not imported: write it as oauth.clientSecret, with its authorization server as oauth.issuer",
	} {
		if !strings.Contains(p.out.String(), want) {
			t.Errorf("no %q in\n%s", want, p.out)
		}
	}

	p = newPlace(t, "opencode")
	p.write(t, []byte(`{"permission": {"bash": "ask"}, "mcp": {"a": {"type": "local", "command": ["x"]}}}`))
	p.take(t)
	if want := "note: permission.bash (ask) stays in OpenCode, and does not apply to any imported server\n"; !strings.Contains(p.out.String(), want) {
		t.Errorf("no %q in\n%s", want, p.out)
	}
}

// TestExcludedOfProject checks that servers in .mcp.json are disabled if settings of Claude Code
// disable them, whatever other settings enable.
func TestExcludedOfProject(t *testing.T) {
	const servers = `{"mcpServers": {"my db": {"command": "x"}, "other": {"command": "y"}}}`
	const off = "  \"my db\":\n    command: \"x\"\n    disabled: true\n"
	project := t.TempDir()
	for _, c := range []struct {
		file, src string // name and content of a file next to .mcp.json
		want      bool   // whether the server is disabled
	}{
		{"home/.claude/settings.json", `{"disabledMcpjsonServers": ["my_db"]}`, true},
		{".claude/settings.json", `{"disabledMcpjsonServers": ["x", "my db"], "enableAllProjectMcpServers": true}`, true},
		{".claude/settings.local.json", `{"disabledMcpjsonServers": ["my db"], "enabledMcpjsonServers": ["my db"]}`, true},
		{"home/.claude.json", `{"projects": {"` + project + `": {"disabledMcpServers": ["my db"]}}}`, true},
		{"home/.claude.json", `{"projects": {"` + project + `": {"disabledMcpjsonServers": ["my db"]}}}`, true},
		{"home/.claude.json", `{"projects": {"/elsewhere": {"disabledMcpServers": ["my db"]}}}`, false},
		{".claude/settings.json", `{"enabledMcpjsonServers": ["other"]}`, false}, // Claude Code asks about it
		{".claude/settings.json", `{"disabledMcpjsonServers": "my db"}`, false},
	} {
		p := newPlace(t, "claude-code")
		path := filepath.Join(project, c.file)
		if rest, home := strings.CutPrefix(c.file, "home/"); home {
			path = filepath.Join(p.desk.System.Home, rest)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{path: c.src, filepath.Join(project, ".mcp.json"): servers} {
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		plan, err := p.desk.Plan(Import{Client: "claude-code", File: filepath.Join(project, ".mcp.json"), Config: p.config})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(plan.after), off); got != c.want || strings.Count(string(plan.after), "disabled:") > 1 {
			t.Errorf("%s %s: the server is off: %t\n%s", c.file, c.src, got, plan.after)
		}
		output{p.desk.Out}.printResults(plan)
		if said := "in " + path + " of Claude Code disables it; it is imported with disabled: true\n"; strings.Contains(p.out.String(), said) != c.want {
			t.Errorf("%s %s: no %q in\n%s", c.file, c.src, said, p.out)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}

	p := newPlace(t, "claude-code") // the user's servers are not in .mcp.json
	p.write(t, []byte(servers))
	settings := filepath.Join(p.desk.System.Home, ".claude", "settings.json")
	if err := os.MkdirAll(filepath.Dir(settings), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, []byte(`{"disabledMcpjsonServers": ["my db"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	plan, err := p.desk.Plan(Import{Client: "claude-code", Config: p.config})
	if err != nil || strings.Contains(string(plan.after), "disabled:") {
		t.Errorf("%v\n%s", err, plan.after)
	}
}
