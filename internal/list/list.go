// Package list has operations on slices that package slices lacks: [Map], [FlatMap], [Filter], [Find],
// [Indexes], [Sorted] and [Add]. None of them modifies its argument, and a result without elements is nil.
package list

import (
	"cmp"
	"slices"
)

// Map returns the results of f for all elements, in order.
func Map[E, T any](all []E, f func(E) T) []T {
	out := slices.Grow([]T(nil), len(all))
	for _, e := range all {
		out = append(out, f(e))
	}
	return out
}

// FlatMap returns the elements of the results of f for all elements, in order.
func FlatMap[E, T any](all []E, f func(E) []T) (out []T) {
	for _, e := range all {
		out = append(out, f(e)...)
	}
	return out
}

// Filter returns the elements that f selects.
func Filter[E any](all []E, f func(E) bool) (out []E) {
	for _, e := range all {
		if f(e) {
			out = append(out, e)
		}
	}
	return out
}

// Indexes returns the indexes of the elements that f selects.
func Indexes[E any](all []E, f func(E) bool) (out []int) {
	for i, e := range all {
		if f(e) {
			out = append(out, i)
		}
	}
	return out
}

// Find returns the address of the first element that f selects, or nil if f selects none.
func Find[E any](all []E, f func(E) bool) *E {
	if i := slices.IndexFunc(all, f); i >= 0 {
		return &all[i]
	}
	return nil
}

// Sorted returns the elements in ascending order, without duplicates.
func Sorted[E cmp.Ordered](all []E) []E {
	return slices.Compact(slices.Sorted(slices.Values(all)))
}

// Add appends to all those of the given elements that it does not contain yet.
func Add[E comparable](all []E, more ...E) []E {
	for _, e := range more {
		if !slices.Contains(all, e) {
			all = append(all, e)
		}
	}
	return all
}
