package petri

import (
	"slices"
	"testing"

	"github.com/petrigate/petrigate/internal/soak"
)

// ring moves tokens around a ring of places. Wide places need several words.
func ring(places, tokens int) (*Net, Marking) {
	n, m := &Net{Places: places}, make(Marking, places)
	for p := range places {
		n.Transitions = append(n.Transitions, trans([]int{p}, []int{(p + 1) % places}))
	}
	m[0] = tokens
	return n, m
}

func TestSearchStaysWithinItsBounds(t *testing.T) {
	for _, places := range []int{4, 20, 60} {
		n, m := ring(places, 40)
		for want, o := range map[Stop]Options{
			StopStates: {MaxStates: 5000},
			StopMemory: {MaxStates: 1 << 30, MaxBytes: 50_000},
			StopAsked:  {MaxStates: 1 << 30, Continue: func(states int) bool { return states < 5000 }},
		} {
			a := Analyze(n, m, o)
			if a.Stop != want || a.Bounded != Yes || a.Live != Unknown || a.States < 200 || want == StopStates && a.States != 5000 {
				t.Errorf("%d places, stop %d: stop %d, bounded %d, live %d, %d states", places, want, a.Stop, a.Bounded, a.Live, a.States)
			}
		}
	}
}

func TestMemoryForWiderLanes(t *testing.T) {
	// The invariants do not bound these places, so their lanes start narrow.
	step := int64(1_500)
	if soak.Race {
		step *= 9
	}
	for _, places := range []int{3, 40} {
		n := &Net{Places: places}
		for p := range places - 1 {
			n.Transitions = append(n.Transitions, trans([]int{p}, []int{p + 1}), trans([]int{p}, nil))
		}
		m := make(Marking, places)
		m[0] = 25
		for most := int64(2_000); most < 100_000; most += step {
			if a := Analyze(n, m, Options{MaxStates: 1 << 30, MaxBytes: most}); a.Stop != Finished && a.Stop != StopMemory {
				t.Errorf("stop %d", a.Stop)
			}
		}
	}
}

func TestUnboundedAfterAll(t *testing.T) {
	// The pump comes after so many states that a quick search misses it.
	n, m := ring(5, 9)
	n.Places += 2
	n.Transitions = append(n.Transitions, trans([]int{4, 4, 4, 4, 4, 4, 4, 4, 4}, []int{5}), trans([]int{5}, []int{5, 6}))
	m = append(m, 0, 0)
	a := Analyze(n, m, Options{MaxStates: 10})
	if a.Bounded != No || a.Pump == nil || !slices.Contains(a.Unbounded, 6) {
		t.Fatalf("bounded %d, unbounded %v", a.Bounded, a.Unbounded)
	}
	checkPump(t, n, m, a)
	if FindPump(n, m) == nil {
		t.Error("no pump")
	}
	n, m = ring(5, 12)
	if FindPump(n, m) != nil {
		t.Error("a ring grows")
	}
}

func TestLargeCoverIsIncomplete(t *testing.T) {
	// Nine loops run independently of each other beside a source, which is too much for a cover.
	n := &Net{Places: 1, Transitions: []Transition{trans(nil, []int{0})}}
	m := Marking{0}
	for range 9 {
		r, tokens := ring(4, 3)
		for _, tr := range r.Transitions {
			n.Transitions = append(n.Transitions, trans([]int{n.Places + tr.In[0].Place}, []int{n.Places + tr.Out[0].Place}))
		}
		n.Places, m = n.Places+4, append(m, tokens...)
	}
	a := Analyze(n, m, Options{})
	if a.Bounded != No || a.Stop == Finished || a.Dead != nil || !slices.Equal(a.Unbounded, []int{0}) {
		t.Errorf("bounded %d, stop %d, dead %v, unbounded %v", a.Bounded, a.Stop, a.Dead, a.Unbounded)
	}
}

func TestLivenessStopsWhenAsked(t *testing.T) {
	n, m := ring(4, 10)
	searched := false
	a := Analyze(n, m, Options{Liveness: true, Continue: func(states int) bool { return states == 1 || searched }})
	if a.Stop == Finished { // Continue is not called again until the next phase
		if a.Live != Unknown {
			t.Errorf("live %d", a.Live)
		}
	}
	if a := Analyze(n, m, Options{}); a.Live != Unknown || a.Stop != Finished {
		t.Errorf("live %d, stop %d", a.Live, a.Stop)
	}
	n.Places, m = 5, append(m, 0)
	n.Transitions = append(n.Transitions, trans([]int{4}, nil))
	if a := Analyze(n, m, Options{}); a.Live != No || !slices.Equal(a.NotLive, []int{4}) {
		t.Errorf("live %d, not live %v", a.Live, a.NotLive)
	}
}

func TestInvariantsGiveUp(t *testing.T) {
	// Each layer of pairs doubles the number of invariants, to 2^12.
	n := &Net{Places: 24}
	for layer := range 12 {
		from, to := 2*layer, (2*layer+2)%24
		n.Transitions = append(n.Transitions, trans([]int{from, from + 1}, []int{to, to + 1}))
	}
	m := make(Marking, 24)
	m[0], m[1] = 1, 1
	found, all := Invariants(n, m)
	if all || len(found) == 0 {
		t.Errorf("%d invariants, all %v", len(found), all)
	}
	a := Analyze(n, m, Options{})
	if a.States != 12 || a.AllInvariants {
		t.Errorf("%d states", a.States)
	}
	checkInvariants(t, n, m, a)
}

func TestInvariantsOfLargeWeights(t *testing.T) {
	n := &Net{Places: 3}
	heavy := Transition{In: []Arc{{0, 1 << 30}}, Out: []Arc{{1, 1}}}
	heavier := Transition{In: []Arc{{1, 1 << 30}}, Out: []Arc{{2, 1}}}
	n.Transitions = []Transition{heavy, heavier}
	if found, all := Invariants(n, Marking{0, 0, 0}); all || len(found) != 0 {
		t.Errorf("%v, all %v", found, all)
	}
}
