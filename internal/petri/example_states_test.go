package petri_test

import (
	"fmt"

	"github.com/petrigate/petrigate/internal/petri"
)

// Keys are numbered in the order in which they come.
func ExampleStates() {
	seen := petri.NewStates(2)
	fmt.Println(seen.Add([]uint64{1, 2}), seen.Add([]uint64{2, 1}))
	fmt.Println(seen.Find([]uint64{2, 1}))
	fmt.Println(seen.At(1), seen.Len())
	// Output:
	// true true
	// 1 true
	// [2 1] 2
}

// A set with a bound refuses a key that it has no room for, and keeps those it has.
func ExampleStates_Add() {
	seen := petri.NewStates(1)
	seen.MaxBytes = 1 << 20
	n := uint64(0)
	for seen.Add([]uint64{n}) {
		n++
	}
	fmt.Println(uint64(seen.Len()) == n, seen.BytesPerState()*float64(n) <= 1<<20)
	_, ok := seen.Find([]uint64{0})
	fmt.Println(ok)
	// Output:
	// true true
	// true
}
