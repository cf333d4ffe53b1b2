package verify_test

import (
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/soak"
)

// try tests random policies: the given number, or the number in PETRIGATE_SOAK.
func try(t *testing.T, trial func(*testing.T, uint64) *trial, count int) {
	from, count := soak.Range(t, count)
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
