package daemon

import (
	"strings"
	"testing"
)

// TestFirstLines checks that a log line contains the beginning of a difference, or all of it if it
// is short.
func TestFirstLines(t *testing.T) {
	long := strings.Repeat("x", maxDifference)
	for _, c := range []struct {
		diff, first string
		left        int
	}{
		{"", "", 0},
		{"stricter\n", "stricter", 0},
		{"the new policy is stricter\n\nstricter:\n   1. push: allow before, refuse now\n", "the new policy is stricter; stricter: 1. push: allow before, refuse now", 0},
		{"a\n" + long + "\n\nb\n", "a", 2},
		{long + "y\nb\nc", long + "y", 2},
	} {
		if first, left := firstLines(c.diff); first != c.first || left != c.left {
			t.Errorf("%.40q: %q and %d more, want %q and %d", c.diff, first, left, c.first, c.left)
		}
	}
}
