package admission

import (
	"strings"
	"testing"
)

// TestRecentArguments: the most recent calls are kept with their latest arguments; long arguments are not
// kept.
func TestRecentArguments(t *testing.T) {
	var l RecentArguments
	key := Key{Session: "s"}
	l.note(key, 2, []byte(strings.Repeat("x", maxRecentBytes+1)))
	for n := uint64(3); n < 3+recentCalls; n++ {
		l.note(key, n, []byte("first"))
	}
	l.note(key, 3, []byte("again"))
	if got := string(l.Arguments(key, 3)); got != "again" {
		t.Error(got)
	}
	l.note(Key{Session: "other"}, 3, []byte("of another"))
	for n, want := range map[uint64]string{2: "", 3: "", 4: "first", 2 + recentCalls: "first"} {
		if got := string(l.Arguments(key, n)); got != want {
			t.Errorf("call %d: %q, want %q", n, got, want)
		}
	}
	if len(l.args) != recentCalls || len(l.order) != recentCalls {
		t.Errorf("%d and %d are kept", len(l.args), len(l.order))
	}
}
