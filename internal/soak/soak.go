// Package soak determines how many inputs randomized tests try.
package soak

import (
	"os"
	"strconv"
	"testing"
)

// Environment variables set by .ci/soak for long test runs.
const (
	Variable = "PETRIGATE_SOAK" // sets the number of inputs per randomized test
	Seed     = "PETRIGATE_SEED" // sets the first seed
)

// Range returns the first seed and the number of inputs that a randomized test tries. By default,
// the first seed is 0, and [Count] determines the number. The environment variables [Seed] and
// [Variable] override these values.
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

// Count returns the usual number of inputs. With -short or under the race detector, it returns
// about a fifth of this number. The race detector makes tests ten times slower and finds little in
// sequential code.
func Count(usual int) int {
	if testing.Short() || Race {
		return 1 + usual/5
	}
	return usual
}

// Bulk skips the test under the race detector, unless the test is run by .ci/soak. Use it in
// sequential tests that take a long time because they process a lot of data or compute the slow
// hash of a PIN.
func Bulk(t testing.TB) {
	t.Helper()
	if Race && os.Getenv(Variable) == "" {
		t.Skip("slow under the race detector, and nothing runs at once; .ci/soak has it")
	}
}
