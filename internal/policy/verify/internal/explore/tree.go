package explore

import "slices"

// A tree numbers the states of a search and records how each was first reached.
type tree[E any] struct {
	index map[string]int32
	from  []int32 // predecessor of each state; -1 for a state without predecessor
	by    []E     // the step that leads from the predecessor to each state
}

// add returns the index of the state with the given key. It adds the state if it does not exist,
// and reports whether it did so.
func (t *tree[E]) add(key []byte, from int32, by E) (k int32, fresh bool) {
	if k, ok := t.index[string(key)]; ok {
		return k, false
	}
	if t.index == nil {
		t.index = make(map[string]int32)
	}
	k = int32(len(t.from))
	t.index[string(key)] = k
	t.from, t.by = append(t.from, from), append(t.by, by)
	return k, true
}

// path returns the steps that lead to state k.
func (t *tree[E]) path(k int32) []E {
	var out []E
	for ; t.from[k] >= 0; k = t.from[k] {
		out = append(out, t.by[k])
	}
	slices.Reverse(out)
	return out
}
