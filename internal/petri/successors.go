package petri

import "math/bits"

// successors computes the successors of the state with the given key. It appends the transitions to
// fire to firable. If a successor must be looked up in the state set, it appends the successor to
// next and the transition to lookups. If a token count does not fit in its lane (see [layout]), it
// returns false, and the caller must widen the layout.
func (s *search) successors(key []uint64) bool {
	if s.stubborn != nil && s.stubborn.worthwhile() {
		return s.fireEnabled(s.stubborn.choose(s.layout, key), key)
	}
	if s.layout.words == 1 && s.marked == nil {
		return s.successorsOfWord(key[0])
	}
	ok := s.fireEnabled(s.always, key)
	if s.marked == nil {
		return ok
	}
	for w, k := range key {
		guard := s.layout.guard[w]
		for full := ((k | guard) - s.layout.ones[w]) & guard; full != 0; full &= full - 1 {
			place := s.layout.owner[64*w+bits.TrailingZeros64(full)]
			ok = s.fireEnabled(s.watchers[place], key) && ok
		}
	}
	return ok
}

// successorsOfWord is like successors, but for a one-word key.
func (s *search) successorsOfWord(key uint64) bool {
	guard, skips := s.layout.guard[0], uint64(0)
	if len(s.knownHere) > 0 {
		skips = s.knownHere[0]
	}
	set, over := key|guard, uint64(0)
	for t := range s.transitions {
		f := &s.transitions[t]
		if len(f.parts) == 0 {
			s.firable = append(s.firable, int32(t))
			continue
		}
		p := &f.parts[0]
		if (set-p.in)&guard != guard {
			continue
		}
		s.firable = append(s.firable, int32(t))
		if !f.idle && skips>>t&1 == 0 {
			next := key - p.in + p.out
			over |= next
			s.next, s.lookups = append(s.next, next), append(s.lookups, int32(t))
		}
	}
	return over&guard == 0
}

// fireEnabled fires those of the given transitions that are enabled. It reports whether every token
// count in the successors fits in its lane.
func (s *search) fireEnabled(transitions []int32, key []uint64) bool {
	ok := true
	for _, t := range transitions {
		f := &s.transitions[t]
		if !s.enabled(f, key) {
			continue
		}
		s.firable = append(s.firable, t)
		if f.idle || len(s.knownHere) > 0 && s.knownHere[t/64]>>(t%64)&1 != 0 {
			continue
		}
		at := len(s.next)
		s.next, s.lookups = append(s.next, key...), append(s.lookups, t)
		for _, p := range f.parts {
			next := key[p.word] - p.in + p.out
			s.next[at+p.word] = next
			ok = ok && next&s.layout.guard[p.word] == 0
		}
	}
	return ok
}
