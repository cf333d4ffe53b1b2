package petri_test

import (
	"fmt"

	"github.com/petrigate/petrigate/internal/petri"
)

// Two workers take the locks a and b, each in its own order. Stopping is right when a worker is
// done; the shortest run that stops elsewhere is the counterexample.
func ExampleAnalyze() {
	const (
		a = iota
		b
		first
		firstHasA
		second
		secondHasB
		done
	)
	locks := petri.Net{Places: 7, Transitions: []petri.Transition{
		{In: petri.Arcs([]int{first, a}), Out: petri.Arcs([]int{firstHasA})},
		{In: petri.Arcs([]int{firstHasA, b}), Out: petri.Arcs([]int{done, a, b})},
		{In: petri.Arcs([]int{second, b}), Out: petri.Arcs([]int{secondHasB})},
		{In: petri.Arcs([]int{secondHasB, a}), Out: petri.Arcs([]int{done, a, b})},
	}}
	found := petri.Analyze(&locks, petri.Marking{a: 1, b: 1, first: 1, second: 1, done: 0}, petri.Options{Terminal: []int{done}})
	fmt.Println("states", found.States, "deadlocks", found.Deadlocks, "trapped", found.Trapped)
	fmt.Println("after", found.Trap, "nothing is possible")
	fmt.Println("never fire:", found.Dead)
	// Output:
	// states 9 deadlocks 2 trapped 1
	// after [0 2] nothing is possible
	// never fire: []
}

// A search that ends early proves nothing about the rest.
func ExampleOptions() {
	found := petri.Analyze(&mutex, petri.Marking{idle: 5, key: 3}, petri.Options{MaxStates: 2})
	fmt.Println(found.Stop == petri.StopStates, found.States)
	found = petri.Analyze(&mutex, petri.Marking{idle: 5, key: 3}, petri.Options{Liveness: true})
	fmt.Println(found.Stop == petri.Finished, found.States, found.Live == petri.Yes)
	// Output:
	// true 2
	// true 4 true
}

// Every busy worker has a key, and the number of workers stays the same.
func ExampleInvariants() {
	places := []string{idle: "idle", busy: "busy", key: "key"}
	found, all := petri.Invariants(&mutex, petri.Marking{idle: 3, key: 1})
	for _, inv := range found {
		fmt.Println(inv.Text(places))
	}
	fmt.Println(all)
	// Output:
	// idle + busy = 3
	// busy + key = 1
	// true
}

// Conserves asks about a single sum. It also finds sums that hold only because of where the net
// starts.
func ExampleConserves() {
	start := petri.Marking{idle: 3, key: 1}
	workers := []int{idle: 1, busy: 1, key: 0}
	tokens := []int{idle: 1, busy: 1, key: 1}
	fmt.Println(petri.Conserves(&mutex, start, workers, petri.Options{}) == petri.Yes)
	fmt.Println(petri.Conserves(&mutex, start, tokens, petri.Options{}) == petri.No)
	locked := petri.Marking{idle: 3, key: 0} // no worker can enter
	fmt.Println(petri.Conserves(&mutex, locked, tokens, petri.Options{}) == petri.Yes)
	// Output:
	// true
	// true
	// true
}

// A run that can be repeated forever proves that a net is unbounded.
func ExampleFindPump() {
	const off, on, out = 0, 1, 2
	machine := petri.Net{Places: 3, Transitions: []petri.Transition{
		{In: petri.Arcs([]int{off}), Out: petri.Arcs([]int{on})},
		{In: petri.Arcs([]int{on}), Out: petri.Arcs([]int{on, out})},
	}}
	pump := petri.FindPump(&machine, petri.Marking{off: 1, out: 0})
	fmt.Println("after", pump.Prefix, "repeat", pump.Cycle, "for more in", pump.Places)
	fmt.Println(petri.FindPump(&mutex, petri.Marking{idle: 3, key: 1}) == nil)
	// Output:
	// after [0] repeat [1] for more in [2]
	// true
}

func ExampleInvariant_Text() {
	inv := petri.Invariant{Weights: []petri.Arc{{Place: 0, Weight: 1}, {Place: 2, Weight: 3}}, Constant: 2}
	fmt.Println(inv.Text([]string{"idle", "busy", "done"}))
	// Output: idle + 3 done = 2
}
