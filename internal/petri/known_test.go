package petri

import (
	"slices"
	"testing"
)

// TestKnownSuccessors checks that a search looks up little more than one edge per state, and still
// counts all edges.
func TestKnownSuccessors(t *testing.T) {
	const switches, parallel = 12, 2 // transitions with the same effect
	n := &Net{Places: 2 * switches}
	m := make(Marking, n.Places)
	for i := range switches {
		m[2*i] = 1
		for range parallel {
			n.Transitions = append(n.Transitions, trans([]int{2 * i}, []int{2*i + 1}))
		}
	}
	s := newSearch(n, m, slices.Repeat([]int{1}, n.Places))
	lookups := 0
	for s.expanded < s.states.len() {
		if !s.gather() || s.insertGathered(1<<20) != Finished {
			t.Fatal("the search stopped")
		}
		lookups += len(s.lookups)
		s.countGathered()
	}
	states := 1 << switches
	if s.states.len() != states || s.edges != parallel*switches*states/2 {
		t.Errorf("%d states, %d edges", s.states.len(), s.edges)
	}
	// Each state but the first is found by a single lookup. Successors by the second transition
	// with the same effect are always looked up.
	if most := states + switches*states/2; lookups > most {
		t.Errorf("%d lookups, more than %d", lookups, most)
	}
	if s.deadlocks != 1 || len(unfired(s.fired)) > 0 {
		t.Errorf("%d deadlocks, %v never fired", s.deadlocks, unfired(s.fired))
	}
}

// TestKnownOfManyTransitions checks that a net with more than maxKnown transitions is searched
// without the sets, with the same results as a smaller one.
func TestKnownOfManyTransitions(t *testing.T) {
	for _, more := range []int{10, 70, maxKnown} {
		n, m := ring(5, 3)
		for range more {
			n.Transitions = append(n.Transitions, trans([]int{0, 0, 1}, []int{1, 2, 2}), trans([]int{4}, []int{4}))
		}
		o := enumerate(n, m, 10_000)
		if a := Analyze(n, m, Options{Liveness: true}); !agree(t, n, o, a, nil) {
			t.Errorf("%d more: %+v", more, a)
		}
	}
}

// TestNoMemoryForKnown checks that the search ends if there is memory for the states but not for
// the sets.
func TestNoMemoryForKnown(t *testing.T) {
	n, m := ring(6, 20)
	full := Analyze(n, m, Options{counter: 1 << 30})
	if full.Stop != Finished {
		t.Fatalf("stop %d", full.Stop)
	}
	whole := int64(full.BytesPerState * float64(full.States))
	for bytes := int64(500); bytes < whole; bytes += whole / 200 {
		if a := Analyze(n, m, Options{MaxBytes: bytes, counter: 1 << 30}); a.Stop != StopMemory || a.States >= full.States {
			t.Errorf("%d bytes of %d: stop %d, %d states", bytes, whole, a.Stop, a.States)
		}
	}
}
