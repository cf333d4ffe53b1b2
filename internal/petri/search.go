package petri

import (
	"math/bits"
	"slices"
)

// manyTransitions is the number of transitions above which a search no longer tries all of them in each state.
const manyTransitions = 48

// learnStates is the number of visited states that triggers a new choice of the watched places,
// from the statistics so far.
const learnStates = 512

// search visits the reachable markings of a net in breadth-first order, in packed form.
type search struct {
	net         *Net
	initial     Marking
	layout      *layout
	transitions []packedTransition
	states      *stateSet
	high        []uint64 // packed marking of the largest token count of each place
	fired       []bool   // transitions that were enabled in some state

	// In a net with many transitions, each transition watches one of its input places, and the
	// search tries only transitions that watch a marked place.
	watchers [][]int32 // of each place
	always   []int32   // transitions without inputs; in a net with few transitions, all
	marked   []int     // number of states that mark each place, while learning

	stubborn *stubborn // if not nil, only the transitions that it chooses are fired

	known *knownSuccessors // successors that need no lookup; unused if only is set

	firable   []int32  // transitions enabled in the current states
	lookups   []int32  // the transitions of firable whose successors need a lookup
	next      []uint64 // the successors by lookups, concatenated keys
	ends      []end    // one for each current state
	scratch   []uint64 // scratch space for one key
	knownHere []uint64 // known transitions of the current state; may be empty

	hashes, found []uint64 // for each key in next; filled by probe

	edges        int
	expanded     int
	deadlocks    int // states without enabled transitions
	trapped      int // stuck states without a marked terminal place
	firstTrapped int // the first trapped state; -1: no such state
	terminal     []int
}

// end is the end of the entries of a state in firable and lookups.
type end struct{ firable, lookups int }

// newSearch prepares a search; bounds are the known bounds of the places, negative if unknown.
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

// chooseWatched chooses the place that each transition watches: the input place that the fewest states have
// marked so far; among equals, the one with the fewest watchers.
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

// learn counts the places that a state marks; at state learnStates it calls chooseWatched with these
// counts.
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

// batchKeys is the approximate number of successors that are looked up together.
const batchKeys = 32

// run expands states until all are expanded or a bound is reached. It returns the reason why it
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

// gather computes the successors of the next few states. It reports whether all of them fit the
// layout.
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

// countGathered updates the statistics for the current states, whose successors are all stored.
func (s *search) countGathered() {
	from := 0
	for _, e := range s.ends {
		s.countState(s.firable[from:e.firable])
		from = e.firable
	}
}

// countState updates the statistics for the next state, whose successors are all stored.
func (s *search) countState(by []int32) {
	for _, t := range by {
		s.fired[t] = true
	}
	s.edges += len(by)
	if len(by) == 0 {
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
	for _, place := range s.terminal {
		if s.layout.tokens(key, place) > 0 {
			return true
		}
	}
	return false
}

// insertGathered stores the gathered successors.
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

// insertSuccessors stores the successors of a state, which are the successors with indexes in [from, to).
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

// lookup returns the slot of a successor and whether the state set contains it.
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

// probe computes hashes, and stores in found the contents of the first slots: keys of one word, or
// the first words of longer keys. The search is limited by memory latency: the second loop does
// nothing but read memory, so that the processor can overlap many accesses.
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

// probeKeys is probe for keys that are not one word long. It also reads the stored keys that are
// likely to be compared with those in next, so that they are cached.
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

// updateHigh updates the largest token counts.
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

// successors appends the enabled transitions and successors of a state to firable, lookups and next. It
// reports whether every token count fits its lane; if not, the layout must be widened first.
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

// successorsOfWord is successors for a key of one word.
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

// fireEnabled fires the enabled ones of the transitions. It reports whether every token count of the
// successors fits its lane.
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

func (s *search) enabled(f *packedTransition, key []uint64) bool {
	for _, p := range f.parts {
		guard := s.layout.guard[p.word]
		if ((key[p.word]|guard)-p.in)&guard != guard {
			return false
		}
	}
	return true
}

// widenLayout widens the lanes that the gathered successors overflow and repacks all states. It reports
// whether the memory bound allows that.
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
		s.setLayout(old) // the states still have the old layout
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

// bounds returns the largest token count of each place.
func (s *search) bounds() []int {
	m := make(Marking, s.net.Places)
	s.layout.unpack(s.high, m)
	return m
}

// pathToTrap returns a shortest firing sequence to the first trapped state; nil if no state is
// trapped.
func (s *search) pathToTrap() []int {
	if s.firstTrapped < 0 {
		return nil
	}
	return s.path(s.firstTrapped)
}

// path returns a shortest firing sequence to a state. States are numbered in discovery order, so
// the predecessor that led to a state is the one with the smallest number and need not be stored.
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

// predecessor returns the state whose successor by t is m, if the search has visited it.
func (s *search) predecessor(m Marking, t int, prev Marking, key []uint64) (state int, ok bool) {
	tr := &s.net.Transitions[t]
	for _, a := range tr.Out {
		if m[a.Place] < a.Weight {
			return 0, false
		}
	}
	copy(prev, m)
	for _, a := range tr.Out {
		prev[a.Place] -= a.Weight
	}
	tr.GiveBack(prev)
	if !s.layout.pack(prev, key) {
		return 0, false
	}
	return s.states.find(key)
}
