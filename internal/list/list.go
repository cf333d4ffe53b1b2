// Package list has operations on slices that package slices lacks: [Map], [FlatMap], [Filter],
// [Find], [Indexes], [Sorted] and [Add]. None of them modifies its argument, and a result without
// elements is nil.
package list

import (
	"cmp"
	"slices"
)

// Map returns the results of calling f for each element, in order.
func Map[E, T any](all []E, f func(E) T) []T {
	out := slices.Grow([]T(nil), len(all))
	for _, e := range all {
		out = append(out, f(e))
	}
	return out
}

// FlatMap returns the concatenated results of calling f for each element, in order.
func FlatMap[E, T any](all []E, f func(E) []T) (out []T) {
	for _, e := range all {
		out = append(out, f(e)...)
	}
	return out
}

// Filter returns the elements that satisfy f.
func Filter[E any](all []E, f func(E) bool) (out []E) {
	for _, e := range all {
		if f(e) {
			out = append(out, e)
		}
	}
	return out
}

// Indexes returns the indexes of the elements that satisfy f.
func Indexes[E any](all []E, f func(E) bool) (out []int) {
	for i, e := range all {
		if f(e) {
			out = append(out, i)
		}
	}
	return out
}

// Find returns a pointer to the first element that satisfies f, or nil if none does.
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

// Add appends the given elements to a slice, except those that the slice already contains.
func Add[E comparable](all []E, more ...E) []E {
	for _, e := range more {
		if !slices.Contains(all, e) {
			all = append(all, e)
		}
	}
	return all
}
