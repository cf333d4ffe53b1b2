package shell_test

import (
	"testing"

	"github.com/petrigate/petrigate/internal/shell"
)

// TestValues: each script that is no match was run, and pushed nothing by force; many of the others did, in bash, dash or zsh.
func TestValues(t *testing.T) {
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

// TestProof: each of these scripts was run with a test that fails; most succeed all the same.
func TestProof(t *testing.T) {
	p := pattern(t, "npm test")
	for _, row := range table(t, "proof.txt") {
		if got := surely(shell.Read(row.script), p); got != (row.want == "yes") {
			t.Errorf("testdata/proof.txt:%d: %q: %v, want %s", row.line, row.script, got, row.want)
		}
	}
}
