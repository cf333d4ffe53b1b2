package admission

import (
	"strings"
	"testing"
)

// TestLately: the newest calls are kept, as they were last noted, and long arguments are not.
func TestLately(t *testing.T) {
	var l Lately
	key := Key{Session: "s"}
	l.note(key, 1, nil)
	l.note(key, 2, []byte(strings.Repeat("x", latelyBytes+1)))
	for n := uint64(3); n < 3+latelyCalls; n++ {
		l.note(key, n, []byte("first"))
	}
	l.note(key, 3, []byte("again"))
	if got := string(l.Arguments(key, 3)); got != "again" {
		t.Error(got)
	}
	l.note(Key{Session: "other"}, 3, []byte("of another"))
	for n, want := range map[uint64]string{1: "", 2: "", 3: "", 4: "first", 2 + latelyCalls: "first"} {
		if got := string(l.Arguments(key, n)); got != want {
			t.Errorf("call %d: %q, want %q", n, got, want)
		}
	}
	if len(l.args) != latelyCalls || len(l.order) != latelyCalls {
		t.Errorf("%d and %d are kept", len(l.args), len(l.order))
	}
}
