package callclass

import (
	"iter"
	"math/bits"
	"slices"
)

// include appends the values that the list does not contain.
func include[T comparable](list []T, more ...T) []T {
	for _, v := range more {
		if !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}

// chosen returns the elements whose index is in the set.
func chosen[T any](all []T, set uint64) []T {
	var out []T
	for i := range members(set) {
		out = append(out, all[i])
	}
	return out
}

// members yields the numbers in a set.
func members(set uint64) iter.Seq[int] {
	return func(yield func(int) bool) {
		for ; set != 0 && yield(bits.TrailingZeros64(set)); set &= set - 1 {
		}
	}
}

// partsOf yields the subsets of the set, starting with the empty one.
func partsOf(set uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for sub := uint64(0); yield(sub) && sub != set; {
			sub = (sub - set) & set
		}
	}
}
