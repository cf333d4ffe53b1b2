package soak

import "testing"

// TestRange: the environment says how many and from where, and what is usual without it.
func TestRange(t *testing.T) {
	t.Setenv(Variable, "")
	t.Setenv(Seed, "")
	if from, count := Range(t, 100); from != 0 || count != Count(100) || count != 100 && count != 21 {
		t.Errorf("%d from %d", count, from)
	}
	t.Setenv(Variable, "7000")
	t.Setenv(Seed, "3")
	if from, count := Range(t, 100); from != 3 || count != 7000 {
		t.Errorf("%d from %d", count, from)
	}
}
