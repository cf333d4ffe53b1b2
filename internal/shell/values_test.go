package shell_test

import (
	"testing"

	"github.com/petrigate/petrigate/internal/shell"
)

// TestKnownValuesOfVariables has scripts that were run in bash, dash or zsh: none that is read as
// no match force-pushed, and many of the others did.
func TestKnownValuesOfVariables(t *testing.T) {
	p := pattern(t, "git push --force")
	for _, row := range table(t, "values.txt") {
		r := shell.Read(row.script)
		if got := runs(r, p).String(); got != row.want {
			t.Errorf("testdata/values.txt:%d: %q: %s, want %s (doubt: %q)", row.line, row.script, got, row.want, doubt(r))
		}
		if strict := runs(shell.Options{Strict: true}.Read(row.script), p).String(); strict == "no match" && row.want != strict {
			t.Errorf("testdata/values.txt:%d: %q: %s under strict reading", row.line, row.script, strict)
		}
	}
}

// TestSurelyOnScriptsWithFailingTest has scripts that were run with a failing test; most of them
// succeed all the same.
func TestSurelyOnScriptsWithFailingTest(t *testing.T) {
	p := pattern(t, "npm test")
	for _, row := range table(t, "proof.txt") {
		if got := surely(shell.Read(row.script), p); got != (row.want == "yes") {
			t.Errorf("testdata/proof.txt:%d: %q: %v, want %s", row.line, row.script, got, row.want)
		}
	}
}
