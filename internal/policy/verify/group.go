package verify

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
)

// group explores the nets of a group whole, and looks for a deadlock.
func (m *model) group(nets []int) Group {
	g := m.explored(nets)
	run, why := m.accepted(g.Deadlock.Trace)
	if g.Deadlock.Trace = run; why != "" {
		g.Deadlock = Deadlock{Why: why}
	}
	return g
}

func (m *model) explored(nets []int) Group {
	g := Group{Nets: m.named(nets)}
	if m.stop() {
		g.Deadlock.Why = m.spent()
		return g
	}
	if !m.deny && m.gap(nets, nil) == "" && m.callless(nets) {
		g.Complete, g.Deadlock.Result = true, Proved
		return g
	}
	if g.Deadlock.Why = m.yielding(nets); g.Deadlock.Why != "" {
		return g
	}
	gap := m.gap(nets, nil)
	var w *space
	if gap == "" {
		w = m.whole(nets, viewOptions{tag: anyCall, limit: min(m.limit, groupLimit)})
	}
	if w == nil && m.endless(nets) {
		g.Deadlock.Result = Proved
		return g
	}
	if w == nil {
		if d := m.lockOfOne(nets, nets, func(*shape) bool { return true }); d.Result == Refuted {
			g.Deadlock = d
			return g
		}
		if gap != "" {
			g.Deadlock.Why = gap
			return g
		}
		w = m.whole(nets, viewOptions{tag: anyCall, limit: m.limit / 5})
	}
	if w == nil {
		g.Deadlock.Why = m.spent()
		return g
	}
	g.States, g.Complete = len(w.at), true
	g.Deadlock = m.deadlock(w)
	if g.Deadlock.Why == whyLong {
		if w = m.exact(nets, viewOptions{tag: anyCall, limit: m.limit}); w != nil {
			g.Deadlock = m.deadlock(w)
		}
	}
	return g
}

// callless reports whether the nets are about no call; the clock makes none.
func (m *model) callless(nets []int) bool {
	calls := m.callsOf(m.view(nets, viewOptions{}), func(*shape) bool { return true })
	return !slices.ContainsFunc(calls, func(s *shape) bool { return !s.waits })
}

// exact is the whole graph with the counters as they are written.
func (m *model) exact(nets []int, o viewOptions) *space {
	return m.wholeFrom(nets, o, 0)
}

// groupLimit is how many states of a group are looked at before simpler proofs
// are tried.
const groupLimit = 2000

// lockOfOne looks for a single net that, in some state, forbids for ever every
// call of the group that likes wants: such as a limit that is used up.
func (m *model) lockOfOne(nets, group []int, likes func(*shape) bool) Deadlock {
	in := make([]bool, len(m.nets))
	for _, n := range group {
		in[n] = true
	}
	tag := func(s *shape) uint8 {
		if !s.waits && likes(s) && slices.ContainsFunc(s.touches, func(t touch) bool { return in[t.net] }) {
			return wanted
		}
		return 0
	}
	for _, n := range nets {
		if m.gap([]int{n}, tag) != "" {
			continue
		}
		w := m.whole([]int{n}, viewOptions{tag: tag, limit: min(m.limit, groupLimit)})
		if w == nil {
			continue
		}
		d := m.lock(w, func(_ int32, c int) bool { return w.classes[c].tag&wanted != 0 }, nil, likes)
		if d.Result == Refuted && d.moves != nil && m.stands(d.moves) {
			return d
		}
	}
	return Deadlock{}
}

// whole is the graph of everything that the nets can reach; nil if it is too
// large. Where counters are made smaller it is not the whole truth, but what
// can be reached from its states is.
func (m *model) whole(nets []int, o viewOptions) *space {
	return m.wholeFrom(nets, o, capSteps[:]...)
}

func (m *model) wholeFrom(nets []int, o viewOptions, caps ...int) *space {
	for _, o.cap = range caps {
		v := m.view(nets, o)
		s := v.explore(&query{sole: -1, edges: true, tag: o.tag, start: goOn}, v.bound(o))
		if !s.complete {
			return nil
		}
		if len(v.limits) == 0 || s.settled() {
			return s
		}
	}
	return nil
}

func anyCall(*shape) uint8 { return 0 }

func goOn(mon uint32, _ uint8, _ bool) (uint32, bool) { return mon, false }

// endless reports whether some call of the group is plainly always possible.
func (m *model) endless(nets []int) bool {
	l := m.climb()
	for _, n := range nets {
		if slices.ContainsFunc(m.byNet[n], func(i int) bool { return l.ok[i] && !m.shapes[i].waits }) {
			return true
		}
	}
	return false
}

// lenient reports whether the net can plainly never block the effect: only
// observers list its names, or transitions that need what is always there. What
// calls can mean to the net has to be known, see [model.climb].
func (n *net) lenient(e int) bool {
	for _, a := range n.known.list[e] {
		if a.free || n.observed(a.lists) {
			continue
		}
		if !n.passes(e) {
			return false
		}
	}
	return len(n.free) == 0 || n.still || n.settles()
}

// passes reports whether the net blocks the effect in none of its states.
func (n *net) passes(e int) bool {
	if n.still {
		return n.begin(0, e).verdict != blocks
	}
	locals, ok := n.alone()
	return ok && !slices.ContainsFunc(locals, func(l int) bool { return n.begin(l, e).verdict == blocks })
}

// settles reports whether the structural transitions fire at the start only:
// a net in which they could run for ever blocks everything.
func (n *net) settles() bool {
	for _, t := range n.free {
		for _, a := range n.trans[t].In {
			for u := range n.trans {
				if len(n.info.Transitions[u].Tools) > 0 && weight(n.trans[u].Out, a.Place) > weight(n.trans[u].In, a.Place) {
					return false
				}
			}
		}
	}
	return !n.locals[0].stuck
}

// admits reports whether a call of the class can begin in the state.
func (s *space) admits(k int32, c int) bool {
	words := s.state(k)
	for _, t := range s.classes[c].touches {
		if s.nets[t.net].begin(int(words[1+t.net]), t.effect).verdict == blocks {
			return false
		}
	}
	return true
}

// escapes reports, for each state, whether a successful continuation reaches
// one in which a call of a class that ok likes is admitted.
//
// Only calls of classes that may be made count. It is right to stop in a state
// that is excused.
func (s *space) escapes(ok func(k int32, class int) bool, excused func(k int32) bool, may func(class int) bool) []bool {
	good := make([]bool, len(s.at))
	var queue []int32
	for k := range s.at {
		if excused != nil && excused(int32(k)) {
			good[k] = true
			queue = append(queue, int32(k))
			continue
		}
		for c := range s.classes {
			if may(c) && !s.classes[c].shape.waits && s.admits(int32(k), c) && ok(int32(k), c) {
				good[k] = true
				queue = append(queue, int32(k))
				break
			}
		}
	}
	back := s.successful(may)
	for len(queue) > 0 {
		k := queue[0]
		queue = queue[1:]
		for _, from := range back[k] {
			if !good[from] {
				good[from] = true
				queue = append(queue, from)
			}
		}
	}
	return good
}

// successful are the steps of successful continuations, backwards: a call in
// flight succeeds, or a call begins and succeeds at once.
func (s *space) successful(may func(class int) bool) [][]int32 {
	back := make([][]int32, len(s.at))
	for _, e := range s.edges {
		switch {
		case e.by.kind == succeeds:
			back[e.to] = append(back[e.to], e.from)
		case e.by.kind == starts && may(int(e.by.arg)):
			if to, ok := s.atOnce(e.from, e.by.arg); ok {
				back[to] = append(back[to], e.from)
			}
		}
	}
	return back
}

// atOnce is the state when a call of the class has begun and succeeded, with
// all that was in flight before still in flight, and nothing else: where calls
// that only watch are taken for any number, one that has ended must not be left.
func (s *space) atOnce(k int32, c uint32) (to int32, ok bool) {
	words := s.state(k)
	next := slices.Clone(words[:1+len(s.nets)])
	killed := make([]uint64, len(s.nets))
	var holds []touch
	for _, t := range s.classes[c].touches {
		b := s.nets[t.net].begin(int(next[1+t.net]), t.effect)
		next[1+t.net], killed[t.net] = uint32(b.next), b.killed
		if b.hold > 0 {
			holds = append(holds, touch{t.net, b.hold})
		}
	}
	opens := s.survivors(words[1+len(s.nets):], func(pos int) uint64 { return killed[pos] })
	clear(killed)
	for _, h := range holds {
		e := s.nets[h.net].end(int(next[1+h.net]), h.effect, gate.Success)
		next[1+h.net], killed[h.net] = uint32(e.next), e.killed
	}
	next = append(next, s.survivors(opens, func(pos int) uint64 { return killed[pos] })...)
	to, ok = s.index[string(appendWords(nil, next))]
	return to, ok
}
