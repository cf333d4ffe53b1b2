package petri

import "slices"

// pathToTrap returns a shortest firing sequence to the first trapped state (a deadlock without a
// marked terminal place), or nil if no state is trapped.
func (s *search) pathToTrap() []int {
	if s.firstTrapped < 0 {
		return nil
	}
	return s.path(s.firstTrapped)
}

// path returns a shortest firing sequence to a state. The search stores no predecessors, because
// path can compute them: each state was discovered from the predecessor with the smallest number.
func (s *search) path(state int) []int {
	path := []int{}
	m, prev := make(Marking, s.net.Places), make(Marking, s.net.Places)
	key := make([]uint64, s.layout.words)
	for state > 0 {
		s.layout.unpack(s.states.at(state), m)
		best, by := state, -1
		for t := range s.net.Transitions {
			if i, ok := s.predecessor(m, t, prev, key); ok && i < best {
				best, by = i, t
			}
		}
		path = append(path, by)
		state = best
	}
	slices.Reverse(path)
	return path
}

// predecessor returns the state that leads to m through t, if the search has visited it.
func (s *search) predecessor(m Marking, t int, prev Marking, key []uint64) (state int, ok bool) {
	tr := &s.net.Transitions[t]
	if !m.has(tr.Out) {
		return 0, false
	}
	copy(prev, m)
	prev.add(tr.Out, -1)
	tr.GiveBack(prev)
	if !s.layout.pack(prev, key) {
		return 0, false
	}
	return s.states.find(key)
}
