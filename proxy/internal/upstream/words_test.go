package upstream

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestWords: of what a child says the last lines are kept, and those of a child
// that has ended until the next one speaks.
func TestWords(t *testing.T) {
	u := New(Config{}, Options{})
	if said := u.Said(); len(said) != 0 {
		t.Errorf("before anything was said: %q", said)
	}
	for i := range 3 * wordsKept {
		u.host.hear("", fmt.Appendf(nil, "line %d\r", i))
		u.host.hear("", []byte(" \t"))
	}
	said := u.Said()
	if len(said) != wordsKept || said[0] != "line 40" || said[wordsKept-1] != "line 59" {
		t.Errorf("%q", said)
	}
	u.host.words.begin()
	if got := u.Said(); !slices.Equal(got, said) {
		t.Errorf("another child that says nothing yet: %q", got)
	}
	u.host.hear(onStdout, []byte("\x1b[31m"+strings.Repeat("x", 2*wordsLine)))
	want := onStdout + `\u{1b}[31m` + strings.Repeat("x", wordsLine-5)
	if got := u.Said(); len(got) != 1 || got[0] != want {
		t.Errorf("%q", got)
	}
}

// TestSaid: what a child says on both of its outputs is known after its end.
func TestSaid(t *testing.T) {
	u := New(Config{Name: "a", Command: "sh", Args: []string{"-c", "echo hello; echo why >&2; exit 3"}}, Options{})
	u.Start(t.Context())
	<-u.Settled()
	said := u.Said()
	if err := u.Close(); err != nil {
		t.Error(err)
	}
	slices.Sort(said)
	if !slices.Equal(said, []string{onStdout + "hello", "why"}) {
		t.Errorf("%q", said)
	}
}
