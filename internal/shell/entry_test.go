package shell_test

import (
	"testing"

	"github.com/petrigate/petrigate/internal/shell"
)

// TestNewProgram checks that a new program takes a single entry in a table.
func TestNewProgram(t *testing.T) {
	writes, err := shell.CompileFiles(shell.Writes, "*.ts")
	if err != nil {
		t.Fatal(err)
	}
	answers := func() [6]bool {
		touches, _ := shell.Read("frob a.ts").Touches(writes)
		return [...]bool{
			surely(shell.Read("frob check -n"), pattern(t, "frob check")),
			runs(shell.Read("frob -C dir check"), pattern(t, "frob check")) == shell.Match,
			runs(shell.Read("frob add check"), pattern(t, "frob check")) == shell.Match,
			runs(shell.Read("frobwrap -t 3 rm x"), pattern(t, "rm")) == shell.Match,
			surely(shell.Read("frobx -y jest"), pattern(t, "jest")),
			touches == shell.Match,
		}
	}
	before := answers()
	forget := shell.Learn()
	after := answers()
	forget()
	if want := [...]bool{true, true, true, false, false, false}; before != want {
		t.Errorf("without an entry: %v, want %v", before, want)
	}
	if want := [...]bool{false, true, false, true, true, true}; after != want {
		t.Errorf("with one: %v, want %v", after, want)
	}
}

// TestGroupsOfGlab: glab has other groups than gh. The word after a group counts as its subcommand;
// after any other word, the words of a pattern may follow later.
func TestGroupsOfGlab(t *testing.T) {
	for _, tt := range []struct {
		words, script string
		want          shell.Outcome
	}{
		{"glab label delete", "glab label create delete", shell.Match},
		{"gh label delete", "gh label create delete", shell.NoMatch},
		{"glab mr delete", "glab mr create delete", shell.NoMatch},
		{"gh mr delete", "gh mr create delete", shell.Match},
	} {
		if got, _ := shell.Read(tt.script).Runs(pattern(t, tt.words)); got != tt.want {
			t.Errorf("%s: runs %s: %v, want %v", tt.script, tt.words, got, tt.want)
		}
	}
}
