package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestInitWritesOnlyAfterYes checks that init at a terminal writes only after a yes that was typed
// after the question.
func TestInitWritesOnlyAfterYes(t *testing.T) {
	for keys, want := range map[string]struct {
		written bool
		code    int
		says    string
	}{
		"y\n":   {true, exitOK, "Written: "},
		"\n":    {false, exitOK, "Nothing was written."},
		"n\n":   {false, exitOK, "Nothing was written."},
		"y\x03": {false, exitFailed, ""}, // Linux signals before it flushes, so the terminal can lose output written then
	} {
		t.Run(keys, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			config, tools := filepath.Join(dir, "petrigate.yaml"), filepath.Join(dir, "tools.json")
			for path, text := range map[string]string{config: "version: 1\nmcpServers: { s: { command: ./s } }\n", tools: `["delete_note"]`} {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			p := startPTY(t, nil, 200, "init", "--config", config, "--tools", tools)
			p.keys("y\n") // typed before the question
			p.expect("? [y/N] ")
			p.keys(keys)
			code, out := p.end()
			_, err := os.Stat(filepath.Join(dir, "petrigate.rules"))
			if code != want.code || !strings.Contains(out, want.says) || (err == nil) != want.written {
				t.Errorf("exit code %d, %v: %s", code, err, out)
			}
		})
	}
}

// TestInitAgentAsksAboutTests checks that init AGENT at a terminal asks, for each command, whether
// it runs the tests, then whether tests in pipes count, and finally whether to write. If no test
// counts, pushes require an approval.
func TestInitAgentAsksAboutTests(t *testing.T) {
	for name, c := range map[string]struct {
		keys    []string // the answer to each question
		written bool
		rules   []string
		without []string
	}{
		"one of two counts": {[]string{"y", "n", "", "y"}, true, []string{"runs npm test as tests"}, []string{"runs make test as tests"}},
		"none counts":       {[]string{"n", "", "y"}, true, []string{"require human-approval before push"}, []string{"as tests"}},
		"not written":       {[]string{"y", "y", "y", "n"}, false, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for path, text := range map[string]string{"package.json": `{"scripts": {"test": "vitest"}}`, "Makefile": "test:\n\ttrue\n"} {
				if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			config := filepath.Join(dir, "policy", "petrigate.yaml")
			if err := os.Mkdir(filepath.Dir(config), 0o700); err != nil {
				t.Fatal(err)
			}
			p := startPTYIn(t, dir, nil, 200, "init", "claude-code", "--config", config)
			questions := []string{`package.json: "npm test" seems to run the tests. Count it as a test run?`, `Makefile: "make test" seems to run the tests. Count it as a test run?`, `A pipe, as in "npm test | tail", hides`, "Write "}
			if name == "none counts" {
				questions = slices.Delete(questions, 2, 3)
			}
			for i, question := range questions {
				p.expect(question)
				p.expect("[y/N] ")
				p.keys(c.keys[i] + "\n")
			}
			code, out := p.end()
			rules, err := os.ReadFile(filepath.Join(filepath.Dir(config), "claude-code.rules"))
			if code != exitOK || (err == nil) != c.written {
				t.Fatalf("exit code %d, %v: %s", code, err, out)
			}
			for _, want := range c.rules {
				if !strings.Contains(string(rules), want) {
					t.Errorf("%q is not in\n%s", want, rules)
				}
			}
			for _, not := range c.without {
				if strings.Contains(string(rules), not) {
					t.Errorf("%q is in\n%s", not, rules)
				}
			}
			if strings.Contains(out, "No test command was found") != (name == "none counts") {
				t.Error(out)
			}
		})
	}
}
