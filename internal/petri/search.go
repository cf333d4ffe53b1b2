package petri

import (
	"math/bits"
	"slices"
)

// wide is the number of transitions above which a search no longer tries all of them in each state.
const wide = 48

// learnStates is the number of visited states that triggers a new choice of the watched places,
// from the statistics so far.
const learnStates = 512

// search visits the reachable markings of a net in breadth-first order, in packed form.
type search struct {
	net     *Net
	initial Marking
	layout  *layout
	firings []firing
	states  *stateSet
	high    []uint64 // packed marking of the largest token count of each place
	fired   []bool   // transitions that were enabled in some state

	// In a net with many transitions, each transition watches one of its input places, and the
	// search tries only transitions that watch a marked place.
	watchers [][]int32 // of each place
	always   []int32   // transitions without inputs; in a net with few transitions, all
	marked   []int     // number of states that mark each place, while learning

	only *stubborn // if not nil, only the transitions that it chooses are fired

	known *known // successors that need no lookup; unused if only is set

	by    []int32  // transitions enabled in the current states
	via   []int32  // the transitions of by whose successors need a lookup
	next  []uint64 // the successors by via, concatenated keys
	ends  []end    // one for each current state
	rest  []uint64 // scratch space for one key
	skips []uint64 // known transitions of the current state; may be empty

	hashes, found []uint64 // for each key in next; filled by probe

	edges    int
	expanded int
	stuck    int // states without enabled transitions
	trapped  int // stuck states without a marked terminal place
	trap     int // the first trapped state; -1: no such state
	terminal []int
}

// end is the end of the entries of a state in by and via.
type end struct{ by, via int }

// newSearch prepares a search; bounds are the known bounds of the places, negative if unknown.
func newSearch(n *Net, initial Marking, bounds []int) *search {
	s := &search{net: n, initial: initial, fired: make([]bool, len(n.Transitions)), trap: -1}
	if len(n.Transitions) > wide {
		s.marked = make([]int, n.Places)
	}
	s.use(newLayout(neededWidths(n, initial, bounds)))
	s.states, s.known = newStateSet(s.layout.words), newKnown(n)
	s.reserve()
	key := make([]uint64, s.layout.words)
	s.layout.pack(initial, key)
	s.states.add(key)
	s.high = key
	return s
}

// use sets the layout and packs the transitions for it.
func (s *search) use(l *layout) {
	s.layout, s.rest = l, make([]uint64, l.words)
	s.firings = s.firings[:0]
	for i := range s.net.Transitions {
		s.firings = append(s.firings, l.firing(&s.net.Transitions[i]))
	}
	s.watch()
}

// watch chooses the place that each transition watches: the input place that the fewest states have
// marked so far; among equals, the one with the fewest watchers.
func (s *search) watch() {
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

// learn counts the places that a state marks; at state learnStates it calls watch with these
// counts.
func (s *search) learn(key []uint64, state int) {
	for place := range s.marked {
		if s.layout.tokens(key, place) > 0 {
			s.marked[place]++
		}
	}
	if state == learnStates {
		s.watch()
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
			if !s.widen() {
				return StopMemory
			}
			continue
		}
		if stop := s.admit(limit); stop != Finished {
			return stop
		}
		s.settleAll()
	}
	return Finished
}

// gather computes the successors of the next few states. It reports whether all of them fit the
// layout.
func (s *search) gather() bool {
	s.by, s.via, s.next, s.ends = s.by[:0], s.via[:0], s.next[:0], s.ends[:0]
	for i := s.expanded; i < s.states.len() && len(s.via) < batchKeys && len(s.by) < 16*batchKeys; i++ {
		key := s.states.at(i)
		if s.marked != nil && i <= learnStates {
			s.learn(key, i)
		}
		if s.known.words > 0 {
			s.skips = s.known.of(i)
		}
		if !s.successors(key) {
			return false
		}
		s.ends = append(s.ends, end{len(s.by), len(s.via)})
	}
	return true
}

// settleAll updates the statistics for the current states, whose successors are all stored.
func (s *search) settleAll() {
	from := 0
	for _, e := range s.ends {
		s.settle(s.by[from:e.by])
		from = e.by
	}
}

// settle updates the statistics for the next state, whose successors are all stored.
func (s *search) settle(by []int32) {
	for _, t := range by {
		s.fired[t] = true
	}
	s.edges += len(by)
	if len(by) == 0 {
		s.stuck++
		if !s.resting(s.states.at(s.expanded)) {
			if s.trapped++; s.trap < 0 {
				s.trap = s.expanded
			}
		}
	}
	s.expanded++
}

// resting reports whether a terminal place is marked.
func (s *search) resting(key []uint64) bool {
	for _, place := range s.terminal {
		if s.layout.tokens(key, place) > 0 {
			return true
		}
	}
	return false
}

// admit stores the gathered successors.
func (s *search) admit(limit int) Stop {
	s.probe()
	from := 0
	for i, e := range s.ends {
		if stop := s.admitOf(s.expanded+i, from, e.via, limit); stop != Finished {
			return stop
		}
		from = e.via
	}
	return Finished
}

// admitOf stores the successors of a state, which are the successors with indexes in [from, to).
func (s *search) admitOf(state, from, to, limit int) Stop {
	words, k := s.layout.words, s.known
	k.begin(state)
	for i := from; i < to; i++ {
		key := s.next[i*words:][:words:words]
		slot, found := s.lookup(i, key)
		if found {
			k.add(s.via[i])
			continue
		}
		if s.states.len() >= limit {
			return StopStates
		}
		if !s.reserve() || !s.states.insert(key, slot) {
			return StopMemory
		}
		k.news = append(k.news, s.via[i])
		s.raise(key)
	}
	if k.words > 0 && len(k.news) > 0 {
		s.spread(state)
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
	s.hashes, s.found = s.hashes[:0], slices.Grow(s.found[:0], len(s.via))[:len(s.via)]
	if s.layout.words != 1 {
		s.probeKeys()
		return
	}
	for _, key := range s.next {
		s.hashes = append(s.hashes, hashWord(key))
	}
	inline, top := s.states.inline, s.states.top&63
	for i, hash := range s.hashes {
		s.found[i] = inline[hash>>top]
	}
}

// probeKeys is probe for keys that are not one word long. It also reads the stored keys that are
// likely to be compared with those in next, so that they are cached.
func (s *search) probeKeys() {
	words := s.layout.words
	for i := range s.via {
		s.hashes = append(s.hashes, hashKey(s.next[i*words:][:words]))
	}
	for i, hash := range s.hashes {
		slot := s.states.home(hash)
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

// raise updates the largest token counts.
func (s *search) raise(key []uint64) {
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

// successors appends the enabled transitions and successors of a state to by, via and next. It
// reports whether every token count fits its lane; if not, the layout must be widened first.
func (s *search) successors(key []uint64) bool {
	if s.only != nil && s.only.pays() {
		return s.tryAll(s.only.choose(s.layout, key), key)
	}
	if s.layout.words == 1 && s.marked == nil {
		return s.successorsOf(key[0])
	}
	ok := s.tryAll(s.always, key)
	if s.marked == nil {
		return ok
	}
	for w, k := range key {
		guard := s.layout.guard[w]
		for full := ((k | guard) - s.layout.ones[w]) & guard; full != 0; full &= full - 1 {
			place := s.layout.owner[64*w+bits.TrailingZeros64(full)]
			ok = s.tryAll(s.watchers[place], key) && ok
		}
	}
	return ok
}

// successorsOf is successors for a key of one word.
func (s *search) successorsOf(key uint64) bool {
	guard, skips := s.layout.guard[0], uint64(0)
	if len(s.skips) > 0 {
		skips = s.skips[0]
	}
	set, over := key|guard, uint64(0)
	for t := range s.firings {
		f := &s.firings[t]
		if len(f.parts) == 0 {
			s.by = append(s.by, int32(t))
			continue
		}
		p := &f.parts[0]
		if (set-p.in)&guard != guard {
			continue
		}
		s.by = append(s.by, int32(t))
		if !f.idle && skips>>t&1 == 0 {
			next := key - p.in + p.out
			over |= next
			s.next, s.via = append(s.next, next), append(s.via, int32(t))
		}
	}
	return over&guard == 0
}

// tryAll fires the enabled ones of the transitions. It reports whether every token count of the
// successors fits its lane.
func (s *search) tryAll(transitions []int32, key []uint64) bool {
	ok := true
	for _, t := range transitions {
		f := &s.firings[t]
		if !s.enabled(f, key) {
			continue
		}
		s.by = append(s.by, t)
		if f.idle || len(s.skips) > 0 && s.skips[t/64]>>(t%64)&1 != 0 {
			continue
		}
		at := len(s.next)
		s.next, s.via = append(s.next, key...), append(s.via, t)
		for _, p := range f.parts {
			next := key[p.word] - p.in + p.out
			s.next[at+p.word] = next
			ok = ok && next&s.layout.guard[p.word] == 0
		}
	}
	return ok
}

func (s *search) enabled(f *firing, key []uint64) bool {
	for _, p := range f.parts {
		guard := s.layout.guard[p.word]
		if ((key[p.word]|guard)-p.in)&guard != guard {
			return false
		}
	}
	return true
}

// widen widens the lanes that the gathered successors overflow and repacks all states. It reports
// whether the memory bound allows that.
func (s *search) widen() bool {
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
	s.use(newLayout(widths))
	if !s.repack(old) {
		s.use(old) // the states still have the old layout
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
	if s.trap < 0 {
		return nil
	}
	return s.path(s.trap)
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
			if i, ok := s.before(m, t, prev, key); ok && i < best {
				best, by = i, t
			}
		}
		path = append(path, by)
		state = best
	}
	slices.Reverse(path)
	return path
}

// before returns the state whose successor by t is m, if the search has visited it.
func (s *search) before(m Marking, t int, prev Marking, key []uint64) (state int, ok bool) {
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
