package callclass

import (
	"iter"
	"math/bits"
)

// selectBySet returns the elements whose indexes are in the given set.
func selectBySet[T any](all []T, set uint64) []T {
	var out []T
	for i := range members(set) {
		out = append(out, all[i])
	}
	return out
}

// members yields the numbers in set.
func members(set uint64) iter.Seq[int] {
	return func(yield func(int) bool) {
		for ; set != 0 && yield(bits.TrailingZeros64(set)); set &= set - 1 {
		}
	}
}

// partsOf yields all subsets of set, starting with the empty set.
func partsOf(set uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for sub := uint64(0); yield(sub) && sub != set; {
			sub = (sub - set) & set
		}
	}
}
