package petri

import (
	"slices"
	"testing"
)

func TestAdvance(t *testing.T) {
	same := func(m Marking) Marking { return m }
	move := func(from, to []int) Transition { return Transition{In: Arcs(from), Out: Arcs(to)} }
	for _, c := range []struct {
		name        string
		transitions []Transition
		start, end  Marking
		rests       bool
	}{
		{"in a line", []Transition{move([]int{0}, []int{1}), move([]int{1}, []int{2})}, Marking{1, 0, 0}, Marking{0, 0, 1}, true},
		{"round and round", []Transition{move([]int{0}, []int{1}), move([]int{1}, []int{0})}, Marking{1, 0, 0}, Marking{1, 0, 0}, true},
		{"two compete", []Transition{move([]int{0}, []int{1}), move([]int{0}, []int{2})}, Marking{1, 0, 0}, Marking{1, 0, 0}, true},
		{"without end", []Transition{move([]int{0}, []int{0, 1})}, Marking{1, 0, 0}, Marking{1, 0, 0}, false},
	} {
		n := Net{Places: 3, Transitions: c.transitions}
		var all []int
		for i := range n.Transitions {
			all = append(all, i)
		}
		m := slices.Clone(c.start)
		if rests := n.Advance(m, all, 10, same); rests != c.rests || !slices.Equal(m, c.end) {
			t.Errorf("%s: %v, %v", c.name, m, rests)
		}
	}
}

// TestAdvancePresent has two transitions. One of them waits for a token in flight.
func TestAdvancePresent(t *testing.T) {
	n := Net{Places: 2, Transitions: []Transition{{In: Arcs([]int{0})}, {In: Arcs([]int{0, 1})}}}
	m := Marking{1, 0}
	if !n.Advance(m, []int{0, 1}, 10, func(Marking) Marking { return Marking{1, 1} }) || m[0] != 1 {
		t.Errorf("%v: they compete", m)
	}
	if !n.Advance(m, []int{0, 1}, 10, func(m Marking) Marking { return m }) || m[0] != 0 {
		t.Errorf("%v: one can fire", m)
	}
}

func TestReachable(t *testing.T) {
	n := Net{Places: 2, Transitions: []Transition{{In: Arcs([]int{0}), Out: Arcs([]int{1})}, {In: Arcs([]int{1, 1}), Out: Arcs([]int{0, 0})}}}
	var found []Marking
	for m, enabled := range n.Reachable(Marking{2, 0}) {
		found = append(found, m)
		if slices.Contains(enabled, 0) != (m[0] > 0) || slices.Contains(enabled, 1) != (m[1] > 1) {
			t.Errorf("%v: %v", m, enabled)
		}
	}
	if len(found) != 3 || !slices.Equal(found[2], Marking{0, 2}) {
		t.Error(found)
	}
	for range n.Reachable(Marking{2, 0}) {
		break
	}
}

func TestConserves(t *testing.T) {
	swap := Transition{In: Arcs([]int{0}), Out: Arcs([]int{1})}
	last := Transition{In: []Arc{{1, 10}}, Out: Arcs([]int{2})}
	grow := Transition{In: Arcs([]int{0}), Out: Arcs([]int{0, 1})}
	never := Transition{In: []Arc{{2, 2}}}
	for _, c := range []struct {
		name        string
		transitions []Transition
		weights     []int
		limit       int
		want        Answer
	}{
		{"by its arcs", []Transition{swap}, []int{1, 1, 0}, 10, Yes},
		{"but for what is dead", []Transition{swap, never}, []int{1, 1, 1}, 100, Yes},
		{"not", []Transition{swap}, []int{1, 2, 0}, 10, No},
		{"not, and unbounded", []Transition{swap, grow}, []int{1, 1, 1}, 100, No},
		{"too many states", []Transition{swap, last, never}, []int{1, 1, 0}, 5, Unknown},
	} {
		n := Net{Places: 3, Transitions: c.transitions}
		if got := Conserves(&n, Marking{10, 0, 0}, c.weights, Options{MaxStates: c.limit}); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestAddsMissing(t *testing.T) {
	use := Transition{In: []Arc{{0, 2}}, Out: []Arc{{0, 2}}}
	put, back := Transition{Out: []Arc{{0, 1}}}, Transition{In: []Arc{{0, 1}}, Out: []Arc{{0, 1}}}
	if !put.AddsMissing(&use, Marking{1}) || put.AddsMissing(&use, Marking{2}) || back.AddsMissing(&use, Marking{1}) || use.AddsMissing(&use, Marking{0}) {
		t.Error("Brings")
	}
}

func TestRemainingAndTakesMissing(t *testing.T) {
	use := Transition{In: Arcs([]int{0, 0, 1}), Out: Arcs([]int{1})}
	if n, ok := use.Remaining(Marking{5, 0}); n != 2 || !ok {
		t.Error(n, ok)
	}
	if _, ok := (&Transition{In: Arcs([]int{1}), Out: Arcs([]int{1})}).Remaining(Marking{0, 1}); ok {
		t.Error("it uses nothing up")
	}
	if !use.TakesMissing(&use, Marking{1, 1}) || use.TakesMissing(&use, Marking{2, 1}) || (&Transition{}).TakesMissing(&use, Marking{0, 0}) {
		t.Error("it holds what is missing")
	}
}
