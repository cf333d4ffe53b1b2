package examples

import (
	"os/exec"
	"strings"
	"testing"
)

// A session is a command of a page and what it printed.
type session struct{ command, output string }

// sessions reads the blocks that are indented and begin with "$ ".
func sessions(text string) []session {
	var found []session
	open := false
	for line := range strings.Lines(text) {
		inner, indented := strings.CutPrefix(line, "    ")
		switch {
		case strings.HasPrefix(inner, "$ ") && indented:
			found, open = append(found, session{command: strings.TrimSpace(inner[2:])}), true
		case open && (indented || line == "\n"):
			if !indented {
				inner = line
			}
			found[len(found)-1].output += inner
		default:
			open = false
		}
	}
	return found
}

// TestSessions runs the commands that the pages show the output of, each page in
// the folder that its paths are relative to.
func TestSessions(t *testing.T) {
	exe := program(t)
	for page, dir := range map[string]string{readme: "..", "../docs/verification.md": "claims"} {
		all := sessions(read(t, page))
		if len(all) < 2 {
			t.Errorf("%s shows %d commands", page, len(all))
		}
		for _, s := range all {
			args := strings.Fields(s.command)
			c := exec.Command(exe, args[1:]...)
			c.Dir = dir
			out, _ := c.Output() // a refuted claim is exit code 3
			got, want := strings.TrimRight(string(out), "\n"), strings.TrimRight(s.output, "\n")
			if args[0] != "petrigate" || got != want {
				t.Errorf("%s: %s prints\n%s\nand not\n%s", page, s.command, got, want)
			}
		}
	}
}

// TestShownClaims compares the rules that the page shows with their file.
func TestShownClaims(t *testing.T) {
	_, rules, _ := strings.Cut(read(t, "claims/stuck.rules"), "\n") // without the comment
	var indented strings.Builder
	for line := range strings.Lines(rules) {
		indented.WriteString("    " + line)
	}
	if !strings.Contains(read(t, "../docs/verification.md"), indented.String()) {
		t.Errorf("the page shows other rules than\n%s", rules)
	}
}
