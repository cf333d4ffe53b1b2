package petri

import "math/bits"

// manyTransitions is the maximum number of transitions that a search tries in every state. If a net
// has more transitions, each one is assigned to one of its input places and is tried only if that
// place is marked; see search.watchers.
const manyTransitions = 48

// learnStates is the number of states to visit before the search assigns the transitions to input
// places a second time. It then prefers places that have rarely been marked.
const learnStates = 512

// search visits a net's reachable markings in breadth-first order. It stores them in packed form.
type search struct {
	net         *Net
	initial     Marking
	layout      *layout
	transitions []packedTransition
	states      *stateSet
	high        []uint64 // largest token count in each place, as a packed marking
	fired       []bool   // transitions enabled in at least one state

	// In a net with many transitions, each transition watches one of its input places. The search
	// tries only transitions whose watched place is marked, because the others cannot be enabled.
	watchers [][]int32 // for each place, the transitions that watch it
	always   []int32   // transitions to try in every state: those without inputs or, in a net with few transitions, all
	marked   []int     // for each place, the number of early states where it is marked (see learnStates); nil if the net has few transitions

	stubborn *stubborn // chooses the transitions to fire; if nil, all enabled transitions are fired

	known *knownSuccessors // successors that need no lookup; unused if stubborn is set

	firable   []int32  // concatenated lists of the transitions to fire in each current state
	lookups   []int32  // transitions in firable whose successors need a lookup
	next      []uint64 // successors that need a lookup, as concatenated keys
	ends      []end    // for each current state, the ends of its entries in firable and lookups
	scratch   []uint64 // scratch space for a key
	knownHere []uint64 // transitions from the state being processed whose successors need no lookup; empty if knownSuccessors is not used

	hashes, found []uint64 // hash and first slot of each key in next; filled by probe

	edges        int
	expanded     int
	deadlocks    int // number of states without an enabled transition
	trapped      int // number of trapped states: deadlocks without a marked terminal place
	firstTrapped int // number of the first trapped state, or -1
	terminal     []int
}

// An end holds the end indexes of a state's entries in firable and lookups.
type end struct{ firable, lookups int }

// newSearch prepares a search. bounds contains the known upper bound of the token count in each
// place, or a negative number if the bound is unknown.
func newSearch(n *Net, initial Marking, bounds []int) *search {
	s := &search{net: n, initial: initial, fired: make([]bool, len(n.Transitions)), firstTrapped: -1}
	if len(n.Transitions) > manyTransitions {
		s.marked = make([]int, n.Places)
	}
	s.setLayout(newLayout(neededWidths(n, initial, bounds)))
	s.states, s.known = newStateSet(s.layout.words), newKnownSuccessors(n)
	s.reserveSet()
	key := make([]uint64, s.layout.words)
	s.layout.pack(initial, key)
	s.states.add(key)
	s.high = key
	return s
}

// setLayout sets the layout and packs the transitions for it.
func (s *search) setLayout(l *layout) {
	s.layout, s.scratch = l, make([]uint64, l.words)
	s.transitions = s.transitions[:0]
	for i := range s.net.Transitions {
		s.transitions = append(s.transitions, l.packTransition(&s.net.Transitions[i]))
	}
	s.chooseWatched()
}

// chooseWatched chooses the place that each transition watches: the input place marked in the
// fewest states so far. If there are several such places, it chooses the one watched by the fewest
// transitions.
func (s *search) chooseWatched() {
	s.watchers, s.always = make([][]int32, s.net.Places), s.always[:0]
	for i := range s.net.Transitions {
		in := s.net.Transitions[i].In
		if len(in) == 0 || s.marked == nil {
			s.always = append(s.always, int32(i))
			continue
		}
		best := in[0].Place
		for _, a := range in[1:] {
			p := a.Place
			if s.marked[p] < s.marked[best] || s.marked[p] == s.marked[best] && len(s.watchers[p]) < len(s.watchers[best]) {
				best = p
			}
		}
		s.watchers[best] = append(s.watchers[best], int32(i))
	}
}

// learn counts which places are marked in the given state. At state learnStates, it calls
// chooseWatched, which uses these counts.
func (s *search) learn(key []uint64, state int) {
	for place := range s.marked {
		if s.layout.tokens(key, place) > 0 {
			s.marked[place]++
		}
	}
	if state == learnStates {
		s.chooseWatched()
	}
}

// updateHigh raises the token counts in s.high that are smaller than those of the given state.
func (s *search) updateHigh(key []uint64) {
	for w, k := range key {
		guard := s.layout.guard[w]
		for low := guard &^ ((s.high[w] | guard) - k); low != 0; low &= low - 1 {
			place := s.layout.owner[64*w+bits.TrailingZeros64(low)]
			a := s.layout.lanes[place]
			mask := uint64(1<<a.width-1) << a.shift
			s.high[w] = s.high[w]&^mask | k&mask
		}
	}
}

func (s *search) enabled(f *packedTransition, key []uint64) bool {
	for _, p := range f.parts {
		guard := s.layout.guard[p.word]
		if ((key[p.word]|guard)-p.in)&guard != guard {
			return false
		}
	}
	return true
}

// bounds returns the largest token count in each place.
func (s *search) bounds() []int {
	m := make(Marking, s.net.Places)
	s.layout.unpack(s.high, m)
	return m
}

// reserveSet makes room in knownSuccessors for another state's set of transitions. It returns false
// if that would exceed the memory limit.
func (s *search) reserveSet() bool {
	k, waiting := s.known, s.states.len()-s.expanded
	if waiting < k.size || k.words == 0 {
		return true
	}
	old, size := *k, max(16, 2*k.size)
	if !s.states.reserveBytes(int64(8 * (size - old.size) * k.words)) {
		return false
	}
	k.ring, k.size = make([]uint64, size*k.words), size
	for i := s.expanded; i < s.states.len(); i++ {
		copy(k.setOf(i), old.setOf(i))
	}
	return true
}
