package verify

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
)

// group explores the nets of a group whole, and looks for a deadlock.
func (m *model) group(nets []int) Group {
	g := Group{Nets: m.named(nets)}
	w := m.whole(nets, anyCall, min(m.limit, groupLimit))
	if w == nil && m.endless(nets) {
		g.Deadlock.Result = Proved
		return g
	}
	if w == nil {
		if d := m.lockOfOne(nets, nets, func(*shape) bool { return true }); d.Result == Refuted {
			g.Deadlock = d
			return g
		}
		w = m.whole(nets, anyCall, m.limit/5)
	}
	if w == nil {
		g.Deadlock.Why = m.spent()
		return g
	}
	g.States, g.Complete = len(w.at), len(m.gaps) == 0
	g.Deadlock = m.deadlock(w)
	if g.Deadlock.Why == whyLong {
		if w = m.exact(nets, anyCall); w != nil {
			g.Deadlock = m.deadlock(w)
		}
	}
	return g
}

// exact is the whole graph with the counters as they are written.
func (m *model) exact(nets []int, tag func(*shape) uint8) *space {
	return m.wholeFrom(nets, tag, m.limit, 0)
}

// groupLimit is how many states of a group are looked at before simpler proofs
// are tried.
const groupLimit = 2000

// lockOfOne looks for a single net that, in some state, forbids for ever every
// call of the group that likes wants: such as a limit that is used up.
func (m *model) lockOfOne(nets, group []int, likes func(*shape) bool) Deadlock {
	if len(m.gaps) > 0 {
		return Deadlock{}
	}
	in := make([]bool, len(m.nets))
	for _, n := range group {
		in[n] = true
	}
	tag := func(s *shape) uint8 {
		if likes(s) && slices.ContainsFunc(s.touches, func(t touch) bool { return in[t.net] }) {
			return wanted
		}
		return 0
	}
	for _, n := range nets {
		w := m.whole([]int{n}, tag, min(m.limit, groupLimit))
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
func (m *model) whole(nets []int, tag func(*shape) uint8, limit int) *space {
	return m.wholeFrom(nets, tag, limit, capSteps[:]...)
}

func (m *model) wholeFrom(nets []int, tag func(*shape) uint8, limit int, caps ...int) *space {
	for _, cap := range caps {
		v := m.view(nets, viewOptions{cap: cap, tag: tag})
		s := v.explore(&query{sole: -1, edges: true, tag: tag, start: goOn}, limit)
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

// endless reports whether some call of the group is plainly never refused.
func (m *model) endless(nets []int) bool {
	for _, n := range nets {
		for _, i := range m.byNet[n] {
			s := m.shapes[i]
			if s.doubtful || len(s.shut) > 0 {
				continue
			}
			free := !slices.ContainsFunc(s.touches, func(t touch) bool { return !m.nets[t.net].lenient(t.effect) })
			if free {
				return true
			}
		}
	}
	return false
}

// lenient reports whether the net can plainly never block the effect: only
// observers list its names, or transitions that need what is always there.
func (n *net) lenient(e int) bool {
	for _, a := range n.effects[e] {
		if a.free || n.observed(a.lists) {
			continue
		}
		if !n.still || len(n.free) > 0 && !n.resting() {
			return false
		}
		if n.begin(0, e).verdict == blocks {
			return false
		}
	}
	return !n.locals[0].stuck
}

// resting reports whether the structural transitions have come to rest for
// good: nothing that calls do enables one.
func (n *net) resting() bool {
	for _, t := range n.free {
		if n.trans[t].Enabled(n.locals[0].marking) {
			return false
		}
	}
	return true
}

// admitted lists, for each state, the classes that can begin there.
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
// Only calls whose arguments are known count. It is right to stop in a state
// that is excused.
func (s *space) escapes(ok func(k int32, class int) bool, excused func(k int32) bool) []bool {
	good := make([]bool, len(s.at))
	var queue []int32
	for k := range s.at {
		if excused != nil && excused(int32(k)) {
			good[k] = true
			queue = append(queue, int32(k))
			continue
		}
		for c := range s.classes {
			if !s.classes[c].shape.doubtful && s.admits(int32(k), c) && ok(int32(k), c) {
				good[k] = true
				queue = append(queue, int32(k))
				break
			}
		}
	}
	back := s.successful()
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
func (s *space) successful() [][]int32 {
	back := make([][]int32, len(s.at))
	ends := make(map[int64][]int32, len(s.edges)) // by state and type of the call
	for _, e := range s.edges {
		if e.by.kind == succeeds {
			back[e.to] = append(back[e.to], e.from)
			ends[int64(e.from)<<32|int64(e.by.arg)] = append(ends[int64(e.from)<<32|int64(e.by.arg)], e.to)
		}
	}
	for _, e := range s.edges {
		if e.by.kind != starts || s.classes[e.by.arg].shape.doubtful {
			continue
		}
		if e.by.after == 0 {
			back[e.to] = append(back[e.to], e.from)
			continue
		}
		for _, to := range ends[int64(e.to)<<32|int64(e.by.after-1)] {
			back[to] = append(back[to], e.from)
		}
	}
	return back
}

// deadlock looks for a state from which no call of the group is possible any more.
func (m *model) deadlock(s *space) Deadlock {
	if len(m.gaps) > 0 {
		return Deadlock{Why: m.gaps[0]}
	}
	return m.lock(s, func(int32, int) bool { return true }, nil, func(s *shape) bool { return true })
}

// lock looks for a state that is not excused and from which no successful
// continuation reaches a call that ok likes; likes says the same of shapes, as
// far as it can without a state.
func (m *model) lock(s *space, ok func(k int32, class int) bool, excused func(k int32) bool, likes func(*shape) bool) Deadlock {
	good := s.escapes(ok, excused)
	if !slices.Contains(good, false) {
		return Deadlock{Result: Proved}
	}
	// Where there is one, there is one with nothing in flight: it is what
	// comes of it when all that is in flight succeeds.
	k := slices.IndexFunc(good, func(ok bool) bool { return !ok })
	for i := range good {
		if !good[i] && len(s.opens(int32(i))) == 0 {
			k = i
			break
		}
	}
	if slices.ContainsFunc(s.classes, func(c class) bool { return c.shape.doubtful }) {
		return Deadlock{Why: whyDoubtful}
	}
	ms, made := s.moves(s.path(int32(k)))
	if !made {
		return Deadlock{Why: whyNoRun}
	}
	ms = s.settleSurplus(ms, int32(k))
	nets := m.locking(s, ms, likes)
	d := Deadlock{Result: Refuted, Because: m.named(nets)}
	if ms, made = m.real(s, ms, nets, likes); !made {
		return Deadlock{Why: whyLong}
	}
	d.Trace, d.moves = m.trace(ms), ms
	return d
}

// settleSurplus lets the calls fail that the run has in flight and the state
// has not: a space does not tell apart how many watch.
func (s *space) settleSurplus(ms []move, k int32) []move {
	r := s.newRun()
	r.play(ms)
	left := slices.Clone(s.opens(k))
	ms = slices.Clone(ms)
	for i, c := range r.calls {
		if len(c.holds) == 0 {
			continue
		}
		at := slices.IndexFunc(left, func(id uint32) bool { return s.is(c, id) })
		if at < 0 {
			ms = append(ms, move{call: i, end: gate.Failure})
		} else if !s.types[left[at]].many {
			left = slices.Delete(left, at, at+1)
		}
	}
	return ms
}

// Reasons for an unknown answer.
const (
	whyDoubtful = "no arguments are known that match the maps as this would need"
	whyLong     = "it takes more calls than were tried"
	whyNoRun    = "a run could not be made of the states that were found"
)

// real is the run with the counters as they are written, after which the nets
// forbid what likes wants.
func (m *model) real(s *space, ms []move, nets []int, likes func(*shape) bool) ([]move, bool) {
	if len(s.limits) == 0 {
		return ms, true
	}
	calls := m.callsOf(s.view)
	holds := func(ms []move) bool {
		_, stopped := m.replay(ms)
		return stopped < 0 && m.locks(m.nets, calls, ms, nets, likes)
	}
	if holds(ms) {
		return ms, true
	}
	longer, ok := m.lengthenTo(s, ms, holds)
	if short := shorten(longer); ok && (longest(short) > maxReplay || holds(short)) {
		return short, true
	}
	return longer, ok
}

// longest is how often a run repeats one call.
func longest(ms []move) int {
	times := 0
	for _, mv := range ms {
		times = max(times, mv.times)
	}
	return times
}

// locking is a set of nets of which none can be left out, that forbid every
// call that likes wants, from where the run ends.
func (m *model) locking(s *space, ms []move, likes func(*shape) bool) []int {
	var nets []int
	for _, n := range s.nets {
		nets = append(nets, n.index)
	}
	calls := m.callsOf(s.view)
	for i := 0; i < len(nets); {
		fewer := slices.Delete(slices.Clone(nets), i, i+1)
		if m.locks(s.numbered(), calls, ms, fewer, likes) {
			nets = fewer
			continue
		}
		i++
	}
	return nets
}

// numbered are the nets of the view by their number.
func (v *view) numbered() []*net { return v.newRun().nets }

// locks reports whether some of the nets alone forbid, after the run, every one
// of the calls that likes wants, though all calls succeed.
func (m *model) locks(all []*net, calls []*shape, ms []move, nets []int, likes func(*shape) bool) bool {
	r := &run{model: m, nets: make([]*net, len(m.nets)), local: make([]int, len(m.nets))}
	for _, n := range nets {
		r.nets[n] = all[n]
	}
	r.play(ms)
	runs, seen := []*run{r}, map[string]bool{r.key(): true}
	for k := 0; k < len(runs); k++ {
		if k == m.limit {
			return false
		}
		next, found := runs[k].continuations(calls, likes)
		if found {
			return false
		}
		for _, n := range next {
			if key := n.key(); !seen[key] {
				seen[key] = true
				runs = append(runs, n)
			}
		}
	}
	return true
}

// callsOf are the shapes that touch a net of the view.
func (m *model) callsOf(v *view) []*shape {
	var out []*shape
	for _, s := range m.shapes {
		if slices.ContainsFunc(s.touches, func(t touch) bool { return v.at[t.net] >= 0 }) {
			out = append(out, s)
		}
	}
	return out
}

// stands reports whether all nets let the run happen. One that is too long to
// be played does not stand.
func (m *model) stands(ms []move) bool {
	if longest(ms) > maxReplay {
		return false
	}
	_, stopped := m.replay(ms)
	return stopped < 0
}
