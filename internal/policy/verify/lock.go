package verify

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
)

// deadlock looks for a state from which no call of the group is possible any more.
func (m *model) deadlock(s *space) Deadlock {
	if why := m.gap(s.numbers(), nil); why != "" {
		return Deadlock{Why: why}
	}
	return m.lock(s, func(int32, int) bool { return true }, nil, func(s *shape) bool { return true })
}

// lock looks for a state that is not excused and from which no successful
// continuation reaches a call that ok likes; likes says the same of shapes, as
// far as it can without a state.
func (m *model) lock(s *space, ok func(k int32, class int) bool, excused func(k int32) bool, likes func(*shape) bool) Deadlock {
	good := s.escapes(ok, excused, s.surely)
	if !slices.Contains(good, false) {
		return Deadlock{Result: Proved}
	}
	unsure := s.leastSure()
	if unsure != nil {
		good = s.escapes(ok, excused, func(int) bool { return true })
		s.again()
	}
	k := s.locked(good)
	if k < 0 {
		var d Deadlock
		d.Why, d.supposed = m.doubt(unsure, "it depends on whether there is a tool ")
		return d
	}
	ms, made := s.moves(s.path(k))
	if !made {
		return Deadlock{Why: whyNoRun}
	}
	ms = s.settleSurplus(ms, k)
	nets := m.locking(s, ms, likes)
	d := Deadlock{Result: Refuted, Because: m.named(nets)}
	if ms, made = m.real(s, ms, nets, likes); !made {
		return Deadlock{Why: whyLong}
	}
	ms = m.tidy(ms, nil)
	d.Trace, d.moves = m.trace(ms), ms
	return d
}

// locked is a state that is not good and that is reached, -1 if there is none.
// Where there is one, there is one with nothing in flight: it is what comes of it
// when all that is in flight succeeds.
func (s *space) locked(good []bool) int32 {
	found := int32(-1)
	for i := range good {
		k := int32(i)
		if good[i] || k > 0 && s.from[k] < 0 {
			continue
		}
		if len(s.opens(k)) == 0 {
			return k
		}
		if found < 0 {
			found = k
		}
	}
	return found
}

// surely reports whether it is known that a call of the class can be made.
func (v *view) surely(class int) bool { return !v.classes[class].shape.unsure() }

// again forgets of the states how they are reached, and finds it anew without
// calls of which nobody knows that they can be made.
func (s *space) again() {
	next := make([][]int, len(s.at))
	for i, e := range s.edges {
		if e.by.kind != starts || !s.classes[e.by.arg].shape.unsure() {
			next[e.from] = append(next[e.from], i)
		}
	}
	for k := range s.from {
		s.from[k] = -1
	}
	for queue := []int32{0}; len(queue) > 0; queue = queue[1:] {
		for _, i := range next[queue[0]] {
			if e := s.edges[i]; e.to != 0 && s.from[e.to] < 0 {
				s.from[e.to], s.by[e.to] = e.from, e.by
				queue = append(queue, e.to)
			}
		}
	}
}

// leastSure is a call of which nobody knows that it can be made; one of unknown
// arguments if there is one.
func (s *space) leastSure() *shape {
	var ms []move
	for _, c := range s.classes {
		ms = append(ms, move{shape: c.shape})
	}
	return unsureOf(ms)
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
	whyStates   = "there are more states than were looked at"
	whyLong     = "it takes more calls than were tried"
	whyNoRun    = "a run could not be made of the states that were found"
)

// real is the run with the counters as they are written, after which the nets
// forbid what likes wants.
func (m *model) real(s *space, ms []move, nets []int, likes func(*shape) bool) ([]move, bool) {
	if len(s.limits) == 0 {
		return ms, true
	}
	calls := m.callsOf(s.view, likes)
	holds := func(ms []move) bool {
		_, stopped := m.replay(ms)
		return stopped < 0 && m.locks(m.nets, calls, ms, nets, likes)
	}
	if holds(ms) {
		return ms, true
	}
	longer, ok := m.lengthenTo(s, ms, holds)
	if short := shorten(longer); ok && holds(short) {
		return short, true
	}
	return longer, ok
}

// locking is a set of nets of which none can be left out, that forbid every
// call that likes wants, from where the run ends.
func (m *model) locking(s *space, ms []move, likes func(*shape) bool) []int {
	nets := s.numbers()
	calls := m.callsOf(s.view, likes)
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

// numbers are the numbers of the nets of the view.
func (v *view) numbers() []int {
	var out []int
	for _, n := range v.nets {
		out = append(out, n.index)
	}
	return out
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
	if r.play(ms); r.long {
		return false
	}
	runs, seen := []*run{r}, map[string]bool{r.key(): true}
	for k, asked := 0, -askEvery; k < len(runs); k++ {
		if k == m.limit || m.due(&asked, k) {
			return false
		}
		m.states++
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

// callsOf are the shapes that touch a net of the view, those apart that likes
// wants.
func (m *model) callsOf(v *view, likes func(*shape) bool) []*shape {
	var out []*shape
	kinds, _ := m.kinds(v.numbers(), func(s *shape) uint8 {
		if likes(s) {
			return wanted
		}
		return 0
	})
	for _, s := range slices.Concat(m.shapes, kinds) {
		if slices.ContainsFunc(s.touches, func(t touch) bool { return v.at[t.net] >= 0 }) {
			out = append(out, s)
		}
	}
	return out
}

// stands reports whether all nets let the run happen.
func (m *model) stands(ms []move) bool {
	_, stopped := m.replay(ms)
	return stopped < 0
}
