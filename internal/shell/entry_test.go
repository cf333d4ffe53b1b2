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
