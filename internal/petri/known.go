package petri

import "slices"

// maxKnown limits the use of knownSuccessors to nets with at most this number of transitions. In a
// larger net, the search looks up every successor.
const maxKnown = 256

// knownSuccessors stores, for each state waiting to be expanded, transitions whose successors need
// no lookup, because they are in the state set by the time the state is expanded.
//
// Suppose that t leads from p to q, u leads from p to s, and p has enough tokens to fire both. Then
// firing u in q leads to the same state as firing t in s. If q was found before s, q is also
// expanded before s. By the time s is expanded, the common successor is therefore in the set. In a
// highly concurrent net, this leaves little more than one lookup per state.
type knownSuccessors struct {
	words      int      // size of a set of transitions in words; 0 means that knownSuccessors is not used
	ring       []uint64 // ring buffer with a set of transitions for each waiting state; the set of state i is at index i modulo size
	size       int      // number of sets in the ring buffer, a power of 2
	conflicts  []uint64 // for each transition, the transitions that share an input place with it
	duplicates []uint64 // transitions with the same effect as an earlier transition; the method add ignores them

	set   []uint64 // transitions that lead from the current state to states that are already in the state set
	fresh []int32  // transitions from the current state to new states, in order
}

func newKnownSuccessors(n *Net) *knownSuccessors {
	k := &knownSuccessors{}
	if len(n.Transitions) > maxKnown {
		return k
	}
	k.words = (len(n.Transitions) + 63) / 64
	k.conflicts, k.duplicates = make([]uint64, k.words*len(n.Transitions)), make([]uint64, k.words)
	k.set = make([]uint64, k.words)
	for i := range n.Transitions {
		clash := k.conflictsOf(i)
		for j := range n.Transitions {
			if n.Transitions[i].sharesInput(&n.Transitions[j]) {
				clash[j/64] |= 1 << (j % 64)
			}
			if j < i && n.Transitions[i].sameEffect(&n.Transitions[j]) {
				k.duplicates[i/64] |= 1 << (i % 64)
			}
		}
	}
	return k
}

func (k *knownSuccessors) conflictsOf(t int) []uint64 { return k.conflicts[t*k.words:][:k.words] }

// setOf returns the set of the transitions that lead from a waiting state to known states.
func (k *knownSuccessors) setOf(state int) []uint64 {
	return k.ring[state&(k.size-1)*k.words:][:k.words]
}

// sharesInput reports whether t and u share an input place.
func (t *Transition) sharesInput(u *Transition) bool {
	return slices.ContainsFunc(t.In, func(a Arc) bool { return weight(u.In, a.Place) > 0 })
}

// sameEffect reports whether t and u change every marking in the same way.
func (t *Transition) sameEffect(u *Transition) bool {
	for _, arcs := range [][]Arc{t.In, t.Out, u.In, u.Out} {
		for _, a := range arcs {
			if weight(t.Out, a.Place)-weight(t.In, a.Place) != weight(u.Out, a.Place)-weight(u.In, a.Place) {
				return false
			}
		}
	}
	return true
}

// load makes the given state, which will be expanded next, the current state.
func (k *knownSuccessors) load(state int) {
	k.fresh = k.fresh[:0]
	if k.words > 0 {
		copy(k.set, k.setOf(state))
	}
}

// add records that t leads from the current state to a known state.
func (k *knownSuccessors) add(t int32) {
	if k.words > 0 && k.duplicates[t/64]>>(t%64)&1 == 0 {
		k.set[t/64] |= 1 << (t % 64)
	}
}
