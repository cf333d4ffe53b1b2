package petri

import "math/bits"

// maxKnown is the number of transitions above which a search looks up every
// successor.
const maxKnown = 256

// known holds, for each state that waits to be expanded, transitions whose
// successors are in the set of states already, so that they need no lookup.
//
// Say t and u lead from p to q and s, and p has tokens for both at once. Then u leads
// from q where t leads from s. If q was found before s, it is expanded before s,
// and that state is there when the turn of s comes. Of all the edges of a net with much
// concurrency, only little more than one for each state is left to look up.
type known struct {
	words int      // of a set of transitions; 0: the search does without
	ring  []uint64 // the sets of the waiting states; of state i at i modulo its length
	size  int      // of the ring, in sets; a power of 2
	clash []uint64 // of each transition, those that take from one of its inputs
	twins []uint64 // transitions with the effect of an earlier one

	set  []uint64 // the transitions from the state at hand to known states
	news []int32  // those that led from it to new ones, in their order
}

func newKnown(n *Net) *known {
	k := &known{}
	if len(n.Transitions) > maxKnown {
		return k
	}
	k.words = (len(n.Transitions) + 63) / 64
	k.clash, k.twins = make([]uint64, k.words*len(n.Transitions)), make([]uint64, k.words)
	k.set = make([]uint64, k.words)
	for i := range n.Transitions {
		clash := k.clashOf(i)
		for j := range n.Transitions {
			if n.Transitions[i].competes(&n.Transitions[j]) {
				clash[j/64] |= 1 << (j % 64)
			}
			if j < i && n.Transitions[i].sameEffect(&n.Transitions[j]) {
				k.twins[i/64] |= 1 << (i % 64)
			}
		}
	}
	return k
}

func (k *known) clashOf(t int) []uint64 { return k.clash[t*k.words:][:k.words] }

// of returns the set of a waiting state.
func (k *known) of(state int) []uint64 { return k.ring[state&(k.size-1)*k.words:][:k.words] }

// reserve makes room for the set of the next state. It reports whether there is
// memory for that.
func (s *search) reserve() bool {
	k, waiting := s.known, s.states.len()-s.expanded
	if waiting < k.size || k.words == 0 {
		return true
	}
	old, size := *k, max(16, 2*k.size)
	if !s.states.take(int64(8 * (size - old.size) * k.words)) {
		return false
	}
	k.ring, k.size = make([]uint64, size*k.words), size
	for i := s.expanded; i < s.states.len(); i++ {
		copy(k.of(i), old.of(i))
	}
	return true
}

// competes reports whether t and u take from the same place.
func (t *Transition) competes(u *Transition) bool {
	for _, a := range t.In {
		if weight(u.In, a.Place) > 0 {
			return true
		}
	}
	return false
}

// sameEffect reports whether t and u change every marking alike.
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

// begin takes the set of the state at hand.
func (k *known) begin(state int) {
	k.news = k.news[:0]
	if k.words > 0 {
		copy(k.set, k.of(state))
	}
}

// add notes that t leads from the state at hand to one that was found before.
func (k *known) add(t int32) {
	if k.words > 0 && k.twins[t/64]>>(t%64)&1 == 0 {
		k.set[t/64] |= 1 << (t % 64)
	}
}

// spread gives each new successor of a state those transitions as known that lead from the
// state to one found before the successor, and do not take what led to it.
func (s *search) spread(state int) {
	k := s.known
	first := s.states.len() - len(k.news)
	key := s.states.at(state)
	for i, u := range k.news {
		set, clash := k.of(first+i), k.clashOf(int(u))
		for w, all := range k.set {
			set[w] = all &^ clash[w]
			for both := all & clash[w]; both != 0; both &= both - 1 {
				if t := bits.TrailingZeros64(both); s.enabledWith(&s.firings[64*w+t], &s.firings[u], key) {
					set[w] |= 1 << t
				}
			}
		}
		k.set[u/64] |= 1 << (u % 64)
	}
}

// enabledWith reports whether a state has tokens for t and u at once, where u is enabled.
func (s *search) enabledWith(t, u *firing, key []uint64) bool {
	copy(s.rest, key)
	for _, p := range u.parts {
		s.rest[p.word] -= p.in
	}
	return s.enabled(t, s.rest)
}
