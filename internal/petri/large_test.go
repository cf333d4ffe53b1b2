package petri

import (
	"slices"
	"testing"
)

// circle returns a net with a ring of places around which a token moves, and another place that
// never changes.
func circle(places int) (*Net, Marking) {
	n := &Net{Places: places + 1}
	for i := range places {
		n.Transitions = append(n.Transitions, Transition{In: []Arc{{i, 1}}, Out: []Arc{{(i + 1) % places, 1}}})
	}
	n.Transitions = append(n.Transitions, Transition{In: []Arc{{places, 2}}, Out: []Arc{{places, 2}}})
	m := make(Marking, n.Places)
	m[0], m[places] = 1, 2
	return n, m
}

// TestInvariantsOfLargeNets checks the memory limit: the algorithm stores places times transitions
// numbers, and a file of ten megabytes has enough of both to fill a machine.
func TestInvariantsOfLargeNets(t *testing.T) {
	n, m := circle(20_000)
	found, all := Invariants(n, m)
	if want := []Invariant{{Weights: []Arc{{20_000, 1}}, Constant: 2}}; all || len(found) != 1 || !slices.Equal(found[0].Weights, want[0].Weights) || found[0].Constant != 2 {
		t.Errorf("%v, all %v", found, all)
	}
	n, m = circle(100)
	if found, all = Invariants(n, m); !all || len(found) != 2 || len(found[1].Weights) != 100 || found[1].Constant != 1 {
		t.Errorf("%v, all %v", found, all)
	}
}

// TestEffects checks that effects are sparse, sorted by place, and unique regardless of their sign.
func TestEffects(t *testing.T) {
	n := &Net{Places: 4, Transitions: []Transition{
		{In: []Arc{{3, 2}, {1, 1}}, Out: []Arc{{1, 1}, {0, 1}}},
		{In: []Arc{{0, 1}}, Out: []Arc{{3, 2}}},
		{In: []Arc{{2, 1}}, Out: []Arc{{2, 1}}},
		{In: []Arc{{2, 3}}, Out: []Arc{{2, 1}}},
	}}
	got := distinctEffects(n)
	if len(got) != 2 || !slices.Equal(got[0], []Arc{{0, 1}, {3, -2}}) || !slices.Equal(got[1], []Arc{{2, 2}}) {
		t.Errorf("%v", got)
	}
}

// TestStopOfLiveness checks that the liveness search calls Continue after a limited number of tried
// transitions rather than steps, because each step can try all transitions.
func TestStopOfLiveness(t *testing.T) {
	n, m := circle(3000)
	asked := 0
	o := Options{Liveness: true, Continue: func(states int) bool {
		if states == 3000 {
			asked++
		}
		return asked < 3
	}}
	if a := Analyze(n, m, o); a.Stop != Finished || a.Live != Unknown {
		t.Errorf("stop %v, live %v, asked %d times", a.Stop, a.Live, asked)
	}
}
