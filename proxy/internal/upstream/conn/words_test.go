package conn

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestWords checks that the last lines of a child are kept, and that the lines of a child that has
// ended are kept until the next child writes a line.
func TestWords(t *testing.T) {
	u := new(Host)
	if said := u.Words.Said(); len(said) != 0 {
		t.Errorf("before anything was said: %q", said)
	}
	for i := range 3 * wordsKept {
		u.Hear("", fmt.Appendf(nil, "line %d\r", i))
		u.Hear("", []byte(" \t"))
	}
	said := u.Words.Said()
	if len(said) != wordsKept || said[0] != "line 40" || said[wordsKept-1] != "line 59" {
		t.Errorf("%q", said)
	}
	u.Words.Begin()
	if got := u.Words.Said(); !slices.Equal(got, said) {
		t.Errorf("another child that says nothing yet: %q", got)
	}
	u.Hear(OnStdout, []byte("\x1b[31m"+strings.Repeat("x", 2*wordsLine)))
	want := OnStdout + `\u{1b}[31m` + strings.Repeat("x", wordsLine-5)
	if got := u.Words.Said(); len(got) != 1 || got[0] != want {
		t.Errorf("%q", got)
	}
}
