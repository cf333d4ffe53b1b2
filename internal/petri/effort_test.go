package petri

import (
	"math"
	"slices"
	"testing"
)

// weighted is a transition by its arcs.
func weighted(in, out []Arc) Transition { return Transition{In: in, Out: out} }

func TestDeadlocksWhereAllCompete(t *testing.T) {
	// No stubborn set of this net is small.
	n := &Net{Places: 2}
	for range maxSet + 100 {
		n.Transitions = append(n.Transitions, trans([]int{0}, []int{1}))
	}
	if d, stop := deadlocksOf(n, Marking{1, 0}, Options{}); stop != Finished || d.deadlocks != 1 || d.states.len() != 2 {
		t.Errorf("stop %d, %d deadlocks in %d states", stop, d.deadlocks, d.states.len())
	}
}

func TestCountsThatNoLaneHolds(t *testing.T) {
	// Neither invariants nor a quick cover bound the places, so their lanes start narrow.
	n := &Net{Places: 5, Transitions: []Transition{
		trans([]int{0}, []int{1}), trans([]int{0}, nil), trans([]int{1}, []int{2}), trans([]int{1}, nil), trans([]int{2}, nil),
		weighted([]Arc{{3, 1}}, []Arc{{4, 1 << 60}}), weighted([]Arc{{4, 1 << 60}}, nil),
	}}
	if a := Analyze(n, Marking{25, 0, 0, 7, 0}, Options{counter: math.MaxInt}); a.Stop != StopMemory || a.States == 0 {
		t.Errorf("stop %d, %d states", a.Stop, a.States)
	}
}

func TestInvariantsOfMuchWork(t *testing.T) {
	// Any two places at the two ends of a transition form an invariant.
	const wide = 500
	n := &Net{Places: 4*wide + 2}
	for hub := range 2 {
		var in, out []int
		for i := range wide {
			in, out = append(in, 2*hub*wide+i), append(out, (2*hub+1)*wide+i)
		}
		n.Transitions = append(n.Transitions, trans(in, out))
	}
	m := make(Marking, n.Places)
	m[4*wide] = 3 // in no arc
	found, all := Invariants(n, m)
	if all || len(found) == 0 {
		t.Errorf("%d invariants, all %v", len(found), all)
	}
	for _, inv := range found {
		if w := inv.Weights; len(w) == 2 && w[0].Place/wide+1 != w[1].Place/wide {
			t.Errorf("%v is not kept", inv)
		}
	}
}

func TestWorkOnInvariantsEnds(t *testing.T) {
	n, _ := ring(4, 1)
	f := newFarkas(n, distinctEffects(n))
	f.work = maxInvariantWork + 1
	if f.eliminate() || !f.cut {
		t.Error("it goes on")
	}
}

func TestLongestInvariantGoes(t *testing.T) {
	n := &Net{Places: 2 * (maxRows + 2)}
	f := newFarkas(n, distinctEffects(n))
	row := func(places ...int) farkasRow {
		r := farkasRow{support: make([]uint64, (n.Places+63)/64)}
		for _, p := range places {
			r.support[p/64] |= 1 << (p % 64)
		}
		return r
	}
	var rows []farkasRow
	for i := range maxRows {
		if i == 7 {
			rows = append(rows, row(2*i, 2*i+1))
			continue
		}
		rows = append(rows, row(2*i))
	}
	long := rows[7]
	rows = f.addMinimal(rows, row(n.Places-1))
	if len(rows) != maxRows || !f.cut || slices.ContainsFunc(rows, func(r farkasRow) bool { return slices.Equal(r.support, long.support) }) {
		t.Errorf("%d rows, cut %v", len(rows), f.cut)
	}
}

func TestLoopsThatContradictThemselves(t *testing.T) {
	// From a to b only with an empty budget, back only with a full one.
	const tokens = 12
	n := &Net{Places: 4, Transitions: []Transition{
		trans([]int{0, 2}, []int{0, 3}),
		weighted([]Arc{{0, 1}, {3, tokens}}, []Arc{{1, 1}, {3, tokens}}),
		weighted([]Arc{{1, 1}, {2, 1}}, []Arc{{0, 1}, {2, 1}}),
	}}
	m := Marking{1, 0, tokens, 0}
	o := enumerate(n, m, 1000)
	a := Analyze(n, m, Options{Liveness: true, counter: 6})
	if !agree(t, n, o, a, nil) {
		t.Errorf("%+v", a)
	}
}

func TestLivenessOfTooManyRanges(t *testing.T) {
	// Backwards from the last transition, the counter in places 4 and 5 could have had many values
	// if place 8 had not been empty all the time.
	const few, many = 30, 300
	n := &Net{Places: 9, Transitions: []Transition{
		trans([]int{0, 6}, []int{1, 6}), trans([]int{1, 6}, []int{0, 6}),
		trans([]int{2, 6}, []int{3, 6}), trans([]int{3, 6}, []int{2, 6}),
		weighted([]Arc{{0, 1}, {4, 2}, {6, 1}, {8, 1}}, []Arc{{1, 1}, {5, 2}, {6, 1}, {8, 1}}),
		weighted([]Arc{{6, 1}}, []Arc{{7, 1}, {8, many}}),
		trans([]int{7}, []int{7}),
		weighted([]Arc{{0, few}, {4, many / 2}, {5, many / 2}, {6, 1}}, []Arc{{0, few}, {4, many / 2}, {5, many / 2}, {6, 1}}),
	}}
	a := Analyze(n, Marking{few, 0, few, 0, many, 0, 1, 0, 0}, Options{Liveness: true, counter: few + 1})
	if a.Stop != Finished || a.Live != Unknown || a.States != 2*(few+1)*(few+1) {
		t.Errorf("stop %d, live %d, %d states", a.Stop, a.Live, a.States)
	}
}
