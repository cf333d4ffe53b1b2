package takeover

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/clientcfg"
	"github.com/petrigate/petrigate/internal/clientcfg/splice"
)

// shapes contains hooks files as people and programs write them. BEFORE stands for the event that
// precedes a call.
var shapes = map[string]string{
	"none":     "",
	"empty":    "{}",
	"other":    "{\n\t\"theme\": \"dark\"\n}\n",
	"hooks":    `{"version": 1, "hooks": {}}`,
	"list":     "{\n  \"hooks\": {\n    \"BEFORE\": []\n  }\n}\n",
	"theirs":   "{\n  \"version\": 1,\n  \"hooks\": {\n    \"BEFORE\": [\n      { \"matcher\": \"Bash\", \"command\": \"x\", \"hooks\": [{ \"type\": \"command\", \"command\": \"lefthook hook run\" }] }\n    ],\n    \"Other\": [1, 2]\n  },\n  \"z\": 1\n}\n",
	"comments": "// mine\n{\n  \"hooks\": { // all\n    \"BEFORE\": [\n      { \"command\": \"x\" }, // one\n    ],\n  },\n}\n",
	"compact":  `{"a":1,"hooks":{"BEFORE":[{"command":"x"}]}}`,
}

func hookFile(t *testing.T, p *place, h clientcfg.Hooks) string {
	t.Helper()
	t.Chdir(filepath.Dir(p.config)) // the hooks file of VS Code is in the current directory
	file := h.File().Files(p.desk.System)[0]
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

func before(h clientcfg.Hooks) string {
	return map[string]string{"gemini-cli": "BeforeTool", "cursor": "preToolUse"}[h.Agent]
}

// TestHooks checks that hooks are added once, next to existing ones, and that removing them
// restores the file byte for byte, even if it was edited in the meantime.
func TestHooks(t *testing.T) {
	for _, h := range clientcfg.AllHooks() {
		for name, shape := range shapes {
			for _, end := range []string{"\n", "\r\n"} {
				t.Run(h.Agent+" "+name, func(t *testing.T) {
					event := before(h)
					if event == "" {
						event = "PreToolUse"
					}
					src := strings.ReplaceAll(strings.ReplaceAll(shape, "BEFORE", event), "\n", end)
					testHooks(t, h, []byte(src))
				})
			}
		}
	}
}

func testHooks(t *testing.T, h clientcfg.Hooks, src []byte) {
	p := newPlace(t, h.Client)
	file := hookFile(t, p, h)
	if len(src) > 0 {
		if err := os.WriteFile(file, src, 0o640); err != nil {
			t.Fatal(err)
		}
	}
	c := HookConnection{Client: h.Client, Launch: clientcfg.Launch{Command: "/opt/my tools/petrigate", Args: []string{"--config", p.config}}}
	connect := func() string {
		t.Helper()
		if err := p.desk.ConnectHooks(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		now, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(now)
	}
	now := connect()
	if again := connect(); again != now || !strings.Contains(p.out.String(), "already runs petrigate") {
		t.Errorf("the second time changes something:\n%s\n%s", now, again)
	}
	for _, one := range p.desk.InspectHooks() {
		if one.Agent == h.Agent && (len(h.Missing(one.There)) > 0 || !one.Kept || h.CanClose(p.desk.System) && !one.There[0].Closed) {
			t.Errorf("%+v:\n%s", one, now)
		}
	}
	edited := strings.Replace(now, "{", `{"edited": true,`, 1)
	if err := os.WriteFile(file, []byte(edited), 0o640); err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(string(src), "{", `{"edited": true,`, 1)
	for _, step := range []struct{ now, want string }{{edited, want}, {"", string(src)}} {
		if step.now == "" {
			if len(src) == 0 {
				_ = os.Remove(file)
			} else if err := os.WriteFile(file, src, 0o640); err != nil {
				t.Fatal(err)
			}
			connect()
		}
		if err := p.desk.DisconnectHooks(h.Client, ""); err != nil {
			t.Fatal(err)
		}
		left, err := os.ReadFile(file)
		switch {
		case len(src) == 0 && step.now == "" && !os.IsNotExist(err):
			t.Errorf("the file is still there: %s", left)
		case len(src) > 0 && len(bytes.Trim(src, "{}")) > 0 && string(left) != step.want:
			t.Errorf("got:\n%s\nwant:\n%s", left, step.want)
		case strings.Contains(string(left), "hook "+h.Agent):
			t.Errorf("hooks are left:\n%s", left)
		}
	}
	if kept, _ := filepath.Glob(filepath.Join(p.desk.State, "connected-*")); len(kept) != 0 {
		t.Errorf("left: %q", kept)
	}
}

// TestHookCommand checks the command for agents that cannot refuse a call if its hook fails. Unless
// the program agrees, the command itself refuses the call: it exits with the code for refusals and
// prints a reason.
func TestHookCommand(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands there are run by no shell of POSIX")
	}
	dir := filepath.Join(t.TempDir(), `it's "a" $HOME`)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "petrigate")
	for _, h := range clientcfg.AllHooks() {
		if h.ClosesAll() {
			continue
		}
		command := hookCommand(t, h.Items(clientcfg.System{OS: "linux"}, clientcfg.Launch{Command: program, Args: []string{"--config", "a b"}})[0].Value)
		for script, want := range map[string]int{
			"": 2, "exit 0": 0, "exit 1": 2, "echo no >&2; exit 2": 2, "kill -9 $$": 2, `[ "$*" = "hook ` + h.Agent + ` --config a b" ]`: 0,
		} {
			_ = os.Remove(program)
			if script != "" {
				if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil { //nolint:gosec // a program must be executable
					t.Fatal(err)
				}
			}
			c := exec.CommandContext(t.Context(), "sh", "-c", command)
			var stderr strings.Builder
			c.Stderr = &stderr
			_ = c.Run()
			if got := c.ProcessState.ExitCode(); got != want || (want == 2) != strings.Contains(stderr.String(), "The call was not made.") {
				t.Errorf("%s: %q: %d %s\n%s", h.Agent, script, got, &stderr, command)
			}
		}
	}
}

// hookCommand returns the command in an entry.
func hookCommand(t *testing.T, o splice.Object) string {
	t.Helper()
	for _, m := range o {
		switch v := m.Value.(type) {
		case string:
			if m.Key == "command" {
				return v
			}
		case []splice.Object:
			return hookCommand(t, v[0])
		}
	}
	t.Fatalf("no command: %v", o)
	return ""
}

// TestHooksAndServers checks that petrigate can connect to the servers and the hooks in the same
// file.
func TestHooksAndServers(t *testing.T) {
	p := newPlace(t, "gemini")
	p.write(t, sample(t, "gemini"))
	p.take(t)
	p.connect(t)
	if err := p.desk.ConnectHooks(t.Context(), HookConnection{Client: "gemini", Launch: clientcfg.Launch{Command: "petrigate"}}); err != nil {
		t.Fatal(err)
	}
	p.disconnect(t)
	if got := p.read(t); got != string(sample(t, "gemini")) {
		t.Errorf("the file came back otherwise:\n%s", got)
	}
}

// TestHookURL checks that only a listener that accepts hooks at a known address has a URL.
func TestHookURL(t *testing.T) {
	for _, c := range []struct {
		listen config.Listen
		want   string
	}{
		{config.Listen{HTTP: "127.0.0.1:7777", Hooks: true}, "http://127.0.0.1:7777"},
		{config.Listen{HTTP: "0.0.0.0:7777", Hooks: true, TLS: &config.TLS{}}, "https://localhost:7777"},
		{config.Listen{HTTP: "127.0.0.1:7777"}, ""},
		{config.Listen{HTTP: "127.0.0.1:0", Hooks: true}, ""},
		{config.Listen{HTTP: "127.0.0.1:1", Hooks: true, Auth: "jwt"}, ""},
		{config.Listen{Stdio: true, Hooks: true}, ""},
	} {
		url, headers := HookURL(c.listen)
		if url != c.want || (len(headers) > 0) != (url != "") {
			t.Errorf("%+v: %q %v", c.listen, url, headers)
		}
	}
	if _, headers := HookURL(config.Listen{HTTP: "127.0.0.1:7", Hooks: true, Auth: "none"}); headers != nil {
		t.Error("a header without a token")
	}
	p := newPlace(t, "claude-code")
	url, headers := HookURL(config.Listen{HTTP: "127.0.0.1:7777", Hooks: true})
	h, _ := clientcfg.HooksOf("claude-code")
	file := hookFile(t, p, h)
	if err := p.desk.ConnectHooks(t.Context(), HookConnection{Client: "claude-code", Launch: clientcfg.Launch{Command: "petrigate", URL: url, Headers: headers}}); err != nil {
		t.Fatal(err)
	}
	src, err := os.ReadFile(file)
	for _, want := range []string{`"http://127.0.0.1:7777/hook/claude-code"`, `"Authorization": "Bearer $PETRIGATE_TOKEN"`, `"allowedEnvVars": ["PETRIGATE_TOKEN"]`, `"onFailure": "block"`} {
		if err != nil || !strings.Contains(string(src), want) {
			t.Errorf("%s is not in:\n%s", want, src)
		}
	}
}

// TestHookSecrets checks that text next to the hooks is not shown if it may be secret.
func TestHookSecrets(t *testing.T) {
	p := newPlace(t, "claude-code")
	h, _ := clientcfg.HooksOf("claude-code")
	if err := os.WriteFile(hookFile(t, p, h), []byte("{\n  \"env\": { \"API_KEY\": \"very-secret\" },\n  \"more\": [{ \"headers\": { \"X\": \"secret-too\" } }]\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := p.desk.ConnectHooks(t.Context(), HookConnection{Client: "claude-code", Launch: clientcfg.Launch{Command: "petrigate"}}); err != nil {
		t.Fatal(err)
	}
	if shown := p.out.String(); strings.Contains(shown, "very-secret") || strings.Contains(shown, "secret-too") || !strings.Contains(shown, "API_KEY") {
		t.Errorf("%s", shown)
	}
}

// TestNoHooks checks that clients without hooks and malformed lists of hooks are refused.
func TestNoHooks(t *testing.T) {
	p := newPlace(t, "zed")
	if err := p.desk.ConnectHooks(t.Context(), HookConnection{Client: "zed"}); err == nil || !strings.HasPrefix(err.Error(), "petrigate does not support hooks for Zed; it supports those of claude-code, codex, ") {
		t.Error(err)
	}
	h, _ := clientcfg.HooksOf("codex")
	file := hookFile(t, p, h)
	if err := os.WriteFile(file, []byte(`{"hooks": {"PreToolUse": {}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := p.desk.ConnectHooks(t.Context(), HookConnection{Client: "codex", Launch: clientcfg.Launch{Command: "petrigate"}}); err == nil || !strings.Contains(err.Error(), "hooks.json:1:26: this must be a list") {
		t.Error(err)
	}
}
