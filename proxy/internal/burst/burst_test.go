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

func (n note) Continue() { *n.to = append(*n.to, n.n) }

// TestBurst checks that steps are held back only during a burst, and that they stay in order.
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

// TestReading checks that a burst has at most [burst.MaxMessages] messages, regardless of how many single
// messages precede it, and that it ends with the last message that can be read.
func TestReading(t *testing.T) {
	var bursts []int
	under := false
	r := burst.Reading{Begin: func() { under, bursts = true, append(bursts, 0) }, End: func() { under = false }}
	read := func(messages int) {
		for i := range messages {
			more := i < messages-1
			r.Before(more)
			if under {
				bursts[len(bursts)-1]++
			}
			r.After(more)
		}
	}
	for range 3 * burst.MaxMessages {
		read(1)
	}
	read(2)
	read(2*burst.MaxMessages + 1)
	if want := []int{2, burst.MaxMessages, burst.MaxMessages}; under || !slices.Equal(bursts, want) {
		t.Errorf("bursts of %v, want %v; one is under way: %t", bursts, want, under)
	}
	r.Before(true)
	r.Stop()
	r.Stop()
	if under || len(bursts) != 4 {
		t.Errorf("bursts of %v; one is under way: %t", bursts, under)
	}
}
