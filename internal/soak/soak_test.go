package soak

import "testing"

// TestRange checks that the environment determines the seed and the number of inputs, and what the
// defaults are.
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
