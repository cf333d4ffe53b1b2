package verify_test

import (
	"os"
	"strconv"
	"testing"
	"time"
)

// soak tries random policies, a few or as many as PETRIGATE_SOAK says.
func soak(t *testing.T, trial func(*testing.T, uint64) *trial, count int) {
	from, count := soakRange(t, count)
	stats := map[string]int{}
	for seed := from; seed < from+uint64(count); seed++ {
		start := time.Now()
		if tr := trial(t, seed); tr != nil {
			tr.check(stats)
		}
		if d := time.Since(start); d > 2*time.Second {
			t.Log("slow", seed, d)
		}
		if t.Failed() {
			t.Log(stats)
			t.Fatalf("seed %d", seed)
		}
		if seed%5000 == 4999 {
			t.Log(seed, stats)
		}
	}
	t.Log(stats)
}

// soakRange is where to begin and how many to try.
func soakRange(t *testing.T, usual int) (from uint64, count int) {
	count = usual
	if testing.Short() || underRace {
		count = 1 + count/5
	}
	if n, err := strconv.Atoi(os.Getenv("PETRIGATE_SOAK")); err == nil {
		count = n
	}
	if n, err := strconv.ParseUint(os.Getenv("PETRIGATE_SEED"), 10, 64); err == nil {
		from = n
	}
	t.Logf("seeds from %d", from)
	return from, count
}
