package petri

import (
	"math/bits"
	"slices"
)

// insertGathered adds the gathered successors of the current states to the state set. It returns
// Finished, or the reason why it stopped early.
func (s *search) insertGathered(limit int) Stop {
	s.probe()
	from := 0
	for i, e := range s.ends {
		if stop := s.insertSuccessors(s.expanded+i, from, e.lookups, limit); stop != Finished {
			return stop
		}
		from = e.lookups
	}
	return Finished
}

// insertSuccessors adds the successors of a state to the state set, unless they are already in it.
// These successors are reached by the transitions s.lookups[from:to].
func (s *search) insertSuccessors(state, from, to, limit int) Stop {
	words, k := s.layout.words, s.known
	k.load(state)
	for i := from; i < to; i++ {
		key := s.next[i*words:][:words:words]
		slot, found := s.lookup(i, key)
		if found {
			k.add(s.lookups[i])
			continue
		}
		if s.states.len() >= limit {
			return StopStates
		}
		if !s.reserveSet() || !s.states.insert(key, slot) {
			return StopMemory
		}
		k.fresh = append(k.fresh, s.lookups[i])
		s.updateHigh(key)
	}
	if k.words > 0 && len(k.fresh) > 0 {
		s.initSets(state)
	}
	return Finished
}

// lookup reports whether the state set contains the successor with index i and the given key. If
// not, slot is the free slot where the key belongs.
func (s *search) lookup(i int, key []uint64) (slot int, found bool) {
	if s.layout.words != 1 {
		slot = s.states.keySlot(key, s.hashes[i])
		return slot, s.states.tags[slot] != 0
	}
	if s.found[i] == ^key[0] {
		return 0, true
	}
	slot = s.states.wordSlot(key[0], s.hashes[i])
	return slot, s.states.inline[slot] != 0
}

// probe computes the hashes of the keys in next, and reads the first slot of each key into found.
// The search spends most of its time waiting for memory. The second loop therefore only reads, so
// that the processor can overlap many accesses.
func (s *search) probe() {
	s.hashes, s.found = s.hashes[:0], slices.Grow(s.found[:0], len(s.lookups))[:len(s.lookups)]
	if s.layout.words != 1 {
		s.probeKeys()
		return
	}
	for _, key := range s.next {
		s.hashes = append(s.hashes, hashWord(key))
	}
	inline, top := s.states.inline, s.states.hashShift&63
	for i, hash := range s.hashes {
		s.found[i] = inline[hash>>top]
	}
}

// probeKeys is like probe, but for keys longer than one word. It also reads the stored keys that
// will probably be compared with the new ones, so that they are in the cache.
func (s *search) probeKeys() {
	words := s.layout.words
	for i := range s.lookups {
		s.hashes = append(s.hashes, hashKey(s.next[i*words:][:words]))
	}
	for i, hash := range s.hashes {
		slot := s.states.firstSlot(hash)
		s.found[i] = uint64(s.states.table[slot])
		if s.states.tags[slot] != tagOf(hash) {
			s.found[i] = 0
		}
	}
	for i, number := range s.found {
		if number > 0 && words > 0 {
			s.found[i] = s.states.at(int(number) - 1)[0]
		}
	}
}

// initSets stores a set of transitions for each new successor of a state. When the successor is
// expanded, these transitions need no lookup; see [knownSuccessors]. If transition u leads to the
// successor, the set contains the transitions that are enabled together with u and lead to states
// found before the successor.
func (s *search) initSets(state int) {
	k := s.known
	first := s.states.len() - len(k.fresh)
	key := s.states.at(state)
	for i, u := range k.fresh {
		set, clash := k.setOf(first+i), k.conflictsOf(int(u))
		for w, all := range k.set {
			set[w] = all &^ clash[w]
			for both := all & clash[w]; both != 0; both &= both - 1 {
				if t := bits.TrailingZeros64(both); s.enabledWith(&s.transitions[64*w+t], &s.transitions[u], key) {
					set[w] |= 1 << t
				}
			}
		}
		k.set[u/64] |= 1 << (u % 64)
	}
}

// enabledWith reports whether the state has enough tokens for both t and u. u must be enabled.
func (s *search) enabledWith(t, u *packedTransition, key []uint64) bool {
	copy(s.scratch, key)
	for _, p := range u.parts {
		s.scratch[p.word] -= p.in
	}
	return s.enabled(t, s.scratch)
}
