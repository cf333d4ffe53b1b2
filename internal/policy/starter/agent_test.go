package starter

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/petrigate/petrigate/internal/agenttool"
)

// TestAppendRuleFileKeepsStyle checks that a rules file is added to a list of files in the style of
// the list, and is not added to any other form of list.
func TestAppendRuleFileKeepsStyle(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"rules:\n  - file: a.rules\n", "rules:\n  - file: a.rules\n  - file: n\n"},
		{"rules:\n- file: a.rules", "rules:\n- file: a.rules\n- file: n\n"},
		{"rules:\r\n  - file: a.rules\r\nmode: shadow\r\n", "rules:\r\n  - file: a.rules\r\n  - file: n\r\nmode: shadow\r\n"},
		{"rules: # ours\n    - file: a.rules # one\n    - file: b.rules\n\nmode: shadow\n", "rules: # ours\n    - file: a.rules # one\n    - file: b.rules\n    - file: n\n\nmode: shadow\n"},
		{"rules: block a\n", ""},
		{"rules: [{ file: a.rules }]\n", ""},
		{"rules:\n  - file: a.rules\n    mode: shadow\n", ""},
		{"rules:\n  - |\n    block a\n", ""},
		{"rules:\n  - file: a.rules\n  - |\n    block a\n", ""},
		{"a:\n  rules:\n    - file: a.rules\n", ""},
	} {
		if got := string(appendRuleFile([]byte(c.src), "n")); got != c.want {
			t.Errorf("%q becomes %q, want %q", c.src, got, c.want)
		}
	}
}

// TestTestCommands checks that the commands that run a project's tests are found in the project's
// files.
func TestTestCommands(t *testing.T) {
	npm := `{"scripts":{"test":"vitest"}}`
	for _, c := range []struct {
		files map[string]string
		want  []string
	}{
		{nil, nil},
		{map[string]string{"package.json": npm}, []string{"npm test"}},
		{map[string]string{"package.json": npm, "pnpm-lock.yaml": ""}, []string{"pnpm test"}},
		{map[string]string{"package.json": npm, "yarn.lock": ""}, []string{"yarn test"}},
		{map[string]string{"package.json": `{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}`}, nil},
		{map[string]string{"package.json": `{"scripts":`}, nil},
		{map[string]string{"go.mod": "module x", "Makefile": ".PHONY: test\n\ntest: lint\n\tgo test ./...\n"}, []string{"go test ./...", "make test"}},
		{map[string]string{"Makefile": "test := 1\ntests:\n\tx\n"}, nil},
		{map[string]string{"Cargo.toml": ""}, []string{"cargo test"}},
		{map[string]string{"pyproject.toml": "[tool.pytest.ini_options]\n"}, []string{"pytest"}},
		{map[string]string{"pyproject.toml": "[project]\n"}, nil},
	} {
		dir := t.TempDir()
		for name, text := range c.files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		for _, found := range TestCommands(dir) {
			got = append(got, found.Command)
			if !PlainCommand(found.Command) {
				t.Errorf("%q cannot stand in a map", found.Command)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: found %q, want %q", c.files, got, c.want)
		}
	}
	for _, command := range []string{"", "npm test | tail", "a 'b'", "X=1 npm test", "npm  test", "a\nb", "a;b", "a as b$"} {
		if PlainCommand(command) {
			t.Errorf("%q passes as a plain command", command)
		}
	}
}

// TestAgents checks that there is a policy for each agent with supported hooks, and that the policy
// is about tools that the agent has.
func TestAgents(t *testing.T) {
	var names []string
	for _, a := range Agents() {
		names = append(names, a.Name)
		for _, tool := range slices.Concat(a.Edits, a.Reads) {
			if !slices.Contains(agenttool.Of(a.Name), tool) {
				t.Errorf("%s has no tool %s", a.Name, tool)
			}
		}
	}
	slices.Sort(names)
	if !slices.Equal(names, agenttool.Agents()) {
		t.Errorf("policies for %q, hooks of %q", names, agenttool.Agents())
	}
}
