package burst_test

import (
	"slices"
	"testing"

	"github.com/petrigate/petrigate/proxy/internal/burst"
)

type note struct {
	to *[]int
	n  int
}

func (n note) GoOn() { *n.to = append(*n.to, n.n) }

// TestBurst: steps are held back only while a burst is under way, and stay in order.
func TestBurst(t *testing.T) {
	var b burst.Burst
	var done []int
	add := func(n int, held bool) {
		t.Helper()
		if got := b.Add(note{&done, n}); got != held {
			t.Errorf("%d is held back: %t", n, got)
		}
	}
	add(0, false)
	b.Flush()
	b.Begin()
	add(1, true)
	add(2, true)
	if len(done) != 0 {
		t.Errorf("done: %v", done)
	}
	b.Flush()
	add(3, true)
	b.End()
	add(4, false)
	b.End()
	if want := []int{1, 2, 3}; !slices.Equal(done, want) {
		t.Errorf("done: %v, want %v", done, want)
	}
	var none *burst.Burst
	if none.Add(note{&done, 5}) {
		t.Error("it is held back by nothing")
	}
}
