package petri

import (
	"math/bits"
	"slices"
)

// run expands states until all are expanded or a limit is reached. It returns the reason why it
// stopped.
func (s *search) run(o *Options) Stop {
	limit := o.MaxStates
	if limit < 1 {
		limit = DefaultLimit
	}
	s.terminal, s.states.maxBytes = o.Terminal, o.MaxBytes
	for round := 0; s.expanded < s.states.len(); round++ {
		if round&255 == 0 && o.Continue != nil && !o.Continue(s.states.len()) {
			return StopAsked
		}
		if !s.gather() {
			if !s.widenLayout() {
				return StopMemory
			}
			continue
		}
		if stop := s.insertGathered(limit); stop != Finished {
			return stop
		}
		s.countGathered()
	}
	return Finished
}

// gather makes the next few states the current ones and computes their successors. It reports
// whether all token counts fit in the layout.
func (s *search) gather() bool {
	s.firable, s.lookups, s.next, s.ends = s.firable[:0], s.lookups[:0], s.next[:0], s.ends[:0]
	for i := s.expanded; i < s.states.len() && len(s.lookups) < batchKeys && len(s.firable) < 16*batchKeys; i++ {
		key := s.states.at(i)
		if s.marked != nil && i <= learnStates {
			s.learn(key, i)
		}
		if s.known.words > 0 {
			s.knownHere = s.known.setOf(i)
		}
		if !s.successors(key) {
			return false
		}
		s.ends = append(s.ends, end{len(s.firable), len(s.lookups)})
	}
	return true
}

// batchKeys is the approximate number of successors that are looked up together.
const batchKeys = 32

// countGathered updates the search statistics for the current states, whose successors must already
// be stored.
func (s *search) countGathered() {
	from := 0
	for _, e := range s.ends {
		s.countState(s.firable[from:e.firable])
		from = e.firable
	}
}

// countState updates the search statistics for the next state, where the given transitions fire. A
// state where no transition fires is a deadlock.
func (s *search) countState(enabled []int32) {
	for _, t := range enabled {
		s.fired[t] = true
	}
	s.edges += len(enabled)
	if len(enabled) == 0 {
		s.deadlocks++
		if !s.inTerminal(s.states.at(s.expanded)) {
			if s.trapped++; s.firstTrapped < 0 {
				s.firstTrapped = s.expanded
			}
		}
	}
	s.expanded++
}

// inTerminal reports whether a terminal place is marked.
func (s *search) inTerminal(key []uint64) bool {
	return slices.ContainsFunc(s.terminal, func(place int) bool { return s.layout.tokens(key, place) > 0 })
}

// widenLayout widens the lanes that are too narrow for the gathered successors and repacks all
// states. It reports whether the wider layout is within the memory limit.
func (s *search) widenLayout() bool {
	old := s.layout
	widths := old.widths()
	over := make([]bool, len(widths))
	for i, k := range s.next {
		w := i % old.words
		for full := k & old.guard[w]; full != 0; full &= full - 1 {
			over[old.owner[64*w+bits.TrailingZeros64(full)]] = true
		}
	}
	for place, yes := range over {
		if yes {
			widths[place] += 1 + widths[place]/4
		}
		if widths[place] > maxWidth {
			return false
		}
	}
	s.setLayout(newLayout(widths))
	if !s.repack(old) {
		s.setLayout(old) // the states are still in the old layout
		return false
	}
	return true
}

// repack converts all states from the old layout to the current one, in order.
func (s *search) repack(old *layout) bool {
	states := newStateSet(s.layout.words)
	states.maxBytes = s.states.maxBytes
	m, key := make(Marking, s.net.Places), make([]uint64, s.layout.words)
	for i := range s.states.len() {
		old.unpack(s.states.at(i), m)
		s.layout.pack(m, key)
		if !states.add(key) {
			return false
		}
	}
	old.unpack(s.high, m)
	s.high = make([]uint64, s.layout.words)
	s.layout.pack(m, s.high)
	s.states = states
	states.bytes += int64(8 * len(s.known.ring))
	return true
}
