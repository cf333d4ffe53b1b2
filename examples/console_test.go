package examples

import (
	"os/exec"
	"strings"
	"testing"
)

// A session is a command of the README and what it printed.
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

// TestReadmeSessions runs the commands that the README shows the output of.
func TestReadmeSessions(t *testing.T) {
	exe := program(t)
	all := sessions(read(t, readme))
	if len(all) < 2 {
		t.Fatalf("the README shows %d commands", len(all))
	}
	for _, s := range all {
		args := strings.Fields(s.command)
		c := exec.Command(exe, args[1:]...)
		c.Dir = "claims"
		out, _ := c.Output() // a refuted claim is exit code 3
		got, want := strings.TrimRight(string(out), "\n"), strings.TrimRight(s.output, "\n")
		if args[0] != "petrigate" || got != want {
			t.Errorf("%s prints\n%s\nand not\n%s", s.command, got, want)
		}
	}
}

// TestReadmeClaims wants the rules that the README shows beside their file.
func TestReadmeClaims(t *testing.T) {
	_, rules, _ := strings.Cut(read(t, "claims/stuck.rules"), "\n") // without the comment
	var indented strings.Builder
	for line := range strings.Lines(rules) {
		indented.WriteString("    " + line)
	}
	if !strings.Contains(read(t, readme), indented.String()) {
		t.Errorf("the README shows other rules than\n%s", rules)
	}
}
