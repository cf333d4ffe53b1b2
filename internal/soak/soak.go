// Package soak says how much the random tests try.
package soak

import (
	"os"
	"strconv"
	"testing"
)

// Variables of the environment, which .ci/soak sets for long runs.
const (
	Variable = "PETRIGATE_SOAK" // how many inputs a random test tries
	Seed     = "PETRIGATE_SEED" // where it begins
)

// Range returns the seed to begin with, and how many inputs to try: usual, a fifth of it
// with -short or under the race detector, or as many as [Variable] says.
func Range(t testing.TB, usual int) (from uint64, count int) {
	t.Helper()
	count = Count(usual)
	if n, err := strconv.Atoi(os.Getenv(Variable)); err == nil {
		count = n
	}
	if n, err := strconv.ParseUint(os.Getenv(Seed), 10, 64); err == nil {
		from = n
	}
	t.Logf("%d from seed %d", count, from)
	return from, count
}

// Count is usual, or a fifth of it with -short or under the race detector, which makes
// everything ten times as slow and has little to find where nothing runs at once.
func Count(usual int) int {
	if testing.Short() || Race {
		return 1 + usual/5
	}
	return usual
}

// Bulk skips a test under the race detector, unless .ci/soak runs it: for tests whose time
// goes into amounts, or into the slow hash of a PIN, not into what runs at once.
func Bulk(t testing.TB) {
	t.Helper()
	if Race && os.Getenv(Variable) == "" {
		t.Skip("slow under the race detector, and nothing runs at once; .ci/soak has it")
	}
}
