package petri_test

import (
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/internal/petri"
)

// The places and transitions in [mutex].
const (
	idle = iota
	busy
	key
)
const (
	enter = iota
	leave
)

// mutex is a net of workers who share a key: only one can be busy at a time.
var mutex = petri.Net{Places: 3, Transitions: []petri.Transition{
	enter: {In: petri.Arcs([]int{idle, key}), Out: petri.Arcs([]int{busy})},
	leave: {In: petri.Arcs([]int{busy}), Out: petri.Arcs([]int{idle, key})},
}}

// A place that occurs twice in a multiset is a single arc with weight two.
func ExampleArcs() {
	fmt.Println(petri.Arcs([]int{3, 1, 3}))
	// Output: [{3 2} {1 1}]
}

// Two workers are idle. Once one is busy, the other cannot enter.
func ExampleTransition_Fire() {
	m := petri.Marking{idle: 2, key: 1}
	t := &mutex.Transitions[enter]
	fmt.Println(m, t.Enabled(m))
	t.Fire(m)
	fmt.Println(m, t.Enabled(m))
	// Output:
	// [2 0 1] true
	// [1 1 0] false
}

// A call in flight has taken its tokens but not produced any: it either produces them or gives back
// the tokens that it took.
func ExampleTransition_Take() {
	m := petri.Marking{idle: 1, key: 1}
	t := &mutex.Transitions[enter]
	t.Take(m)
	fmt.Println(m)
	t.GiveBack(m)
	fmt.Println(m)
	t.Take(m)
	t.Put(m)
	fmt.Println(m)
	// Output:
	// [0 0 0]
	// [1 0 1]
	// [0 1 0]
}

// An overdue refill fires several times at once, up to the capacity of the place.
func ExampleTransition_FireTimes() {
	const spent, budget = 0, 1
	refill := petri.Transition{In: petri.Arcs([]int{spent}), Out: petri.Arcs([]int{budget})}
	m := petri.Marking{spent: 7, budget: 2}
	times := refill.MaxFirings(m, 5)
	refill.FireTimes(m, times)
	fmt.Println(times, m)
	// Output: 3 [4 5]
}

// Remaining counts the tokens that a firing uses up; tokens that it returns to its own inputs remain.
func ExampleTransition_Remaining() {
	const ready, budget = 0, 1
	call := petri.Transition{In: petri.Arcs([]int{ready, budget}), Out: petri.Arcs([]int{ready})}
	fmt.Println(call.Remaining(petri.Marking{ready: 1, budget: 3}))
	fmt.Println("uses up", call.Consumed(), "adds", call.Adds())
	look := petri.Transition{In: petri.Arcs([]int{ready}), Out: petri.Arcs([]int{ready})}
	fmt.Println(look.Remaining(petri.Marking{ready: 1}))
	// Output:
	// 3 true
	// uses up [{1 1}] adds false
	// 0 false
}

// Both transitions are enabled, but a single key is not enough for both.
func ExampleTransition_ConflictsWith() {
	open := petri.Transition{In: petri.Arcs([]int{key}), Out: petri.Arcs([]int{key})}
	t := &mutex.Transitions[enter]
	for _, keys := range []int{1, 2} {
		fmt.Println(keys, t.ConflictsWith(&open, petri.Marking{idle: 1, key: keys}))
	}
	// Output:
	// 1 true
	// 2 false
}

// The transition open produces the token that use waits for.
func ExampleTransition_AddsMissing() {
	opens := petri.Transition{Out: []petri.Arc{{Place: 0, Weight: 1}}}
	use := petri.Transition{In: []petri.Arc{{Place: 0, Weight: 1}}}
	fmt.Println(opens.AddsMissing(&use, petri.Marking{0}), opens.AddsMissing(&use, petri.Marking{1}))
	// Output: true false
}

// A worker is busy, and no other can enter. TakesMissing tells which transition's firings have
// taken the missing tokens; ChangesInputOf tells which firings change a transition's inputs.
func ExampleTransition_TakesMissing() {
	open := petri.Transition{In: petri.Arcs([]int{key}), Out: petri.Arcs([]int{key})}
	m := petri.Marking{idle: 1, busy: 1, key: 0}
	t, u := &mutex.Transitions[enter], &mutex.Transitions[leave]
	fmt.Println(open.Enabled(m), t.TakesMissing(&open, m), u.TakesMissing(&open, m))
	fmt.Println(u.ChangesInputOf(&open), open.ChangesInputOf(u))
	// Output:
	// false true false
	// true false
}

// A key distinguishes markings in a map.
func ExampleMarking_AppendKey() {
	seen := map[string]bool{}
	for _, m := range []petri.Marking{{2, 0, 1}, {1, 1, 0}, {2, 0, 1}} {
		k := string(m.AppendKey(nil))
		fmt.Println(m, seen[k])
		seen[k] = true
	}
	// Output:
	// [2 0 1] false
	// [1 1 0] false
	// [2 0 1] true
}

// All reachable markings of three workers with a single key, and the transitions that each enables.
func ExampleNet_Reachable() {
	for m, enabled := range mutex.Reachable(petri.Marking{idle: 3, key: 1}) {
		fmt.Println(m, "enter:", slices.Contains(enabled, enter), "leave:", slices.Contains(enabled, leave))
	}
	// Output:
	// [3 0 1] enter: true leave: false
	// [2 1 0] enter: false leave: true
}

// Structural transitions fire by themselves. Where two of them need the same token,
// neither does: someone has to choose.
func ExampleNet_Advance() {
	const start, fork, left, right = 0, 1, 2, 3
	n := petri.Net{Places: 4, Transitions: []petri.Transition{
		{In: petri.Arcs([]int{start}), Out: petri.Arcs([]int{fork})},
		{In: petri.Arcs([]int{fork}), Out: petri.Arcs([]int{left})},
		{In: petri.Arcs([]int{fork}), Out: petri.Arcs([]int{right})},
	}}
	atHand := func(m petri.Marking) petri.Marking { return m } // nothing is in flight
	m := petri.Marking{start: 1, right: 0}
	atRest := n.Advance(m, []int{0, 1, 2}, 100, atHand)
	fmt.Println(m, atRest)
	// Output: [0 1 0 0] true
}

// A net that never produces more tokens than it consumes is bounded, which needs no search.
func ExampleNet_NeverGrows() {
	spend := petri.Net{Places: 1, Transitions: []petri.Transition{{In: petri.Arcs([]int{0})}}}
	fmt.Println(spend.NeverGrows(), mutex.NeverGrows()) // leave turns one token into two
	// Output: true false
}
