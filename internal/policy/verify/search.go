package verify

import "slices"

// A found is the answer to a query about what can happen.
type found struct {
	result   Result // Proved: it never happens; Refuted: moves show that it does
	moves    []move
	nets     []int  // Proved: nets that forbid it by themselves
	why      string // Unknown: the reason
	supposed string // Unknown: the tool of which it depends whether it is there
}

// never asks whether the query is met in any run, over all outcomes and
// interleavings. It begins with few nets and adds one that forbids the run
// which they allow, until the run stands or none is left: few nets have few
// states, and what they forbid the whole policy forbids.
func (m *model) never(q *query, nets []int) found {
	f := m.neverOf(q, nets, viewOptions{tag: q.tag, about: q.sole + 1})
	if unsure := unsureOf(f.moves); unsure != nil {
		f = m.neverOf(q, nets, viewOptions{tag: q.tag, witnessed: true, about: q.sole + 1})
		if f.result == Proved {
			f = found{result: Unknown}
			f.why, f.supposed = m.doubt(unsure, "it does not hold if there is a tool ")
		}
	}
	return f
}

// unsureOf is a call of the run of which nobody knows that it can be made, nil
// if there is none; one of unknown arguments if there is one.
func unsureOf(ms []move) *shape {
	var unsure *shape
	for _, mv := range ms {
		if mv.shape != nil && mv.shape.unsure() && (unsure == nil || mv.shape.doubtful) {
			unsure = mv.shape
		}
	}
	return unsure
}

func (m *model) neverOf(q *query, nets []int, o viewOptions) found {
	about := nets
	nets = slices.Clone(nets)
	if o.limit == 0 {
		o.limit = m.limit
	}
	for {
		s, why := m.settle(q, nets, o)
		if why != "" {
			return found{result: Unknown, why: why}
		}
		if s.hit < 0 {
			if why := m.gap(nets, q.tag); why != "" {
				return found{result: Unknown, why: why}
			}
			return m.unadvised(q, about, nets, o)
		}
		ms, ok := s.movesToHit()
		if !ok {
			return found{result: Unknown, why: whyNoRun}
		}
		n := m.objection(q, ms)
		if n < 0 {
			return found{result: Refuted, moves: ms}
		}
		if o.required && m.nets[n].info.Advisory {
			return found{result: Unknown, why: m.yielding([]int{n})}
		}
		if slices.Contains(nets, n) { // a counter that was made smaller does not show it
			if ms, ok = m.lengthen(q, s, ms); ok {
				return found{result: Refuted, moves: ms}
			}
			return found{result: Unknown, why: whyLong}
		}
		nets = append(nets, n)
		slices.Sort(nets)
	}
}

// capSteps are the starts that are tried for large counters; 0 is the number
// as it is written.
var capSteps = [...]int{6, 14, 30, 0}

// settle explores the nets with counters that are made smaller, as far as that
// changes nothing.
func (m *model) settle(q *query, nets []int, o viewOptions) (s *space, why string) {
	for _, o.cap = range capSteps {
		v := m.view(nets, o)
		s = v.explore(q, v.bound(o))
		switch {
		case s.hit < 0 && !s.complete:
			return nil, m.spent()
		case len(v.limits) == 0:
			return s, ""
		case s.hit >= 0:
			if ms, ok := s.movesToHit(); ok {
				if n := m.objection(q, ms); n < 0 || !slices.Contains(nets, n) {
					return s, ""
				}
				if _, ok := m.lengthen(q, s, ms); ok {
					return s, ""
				}
			}
		case s.settled():
			return s, ""
		}
	}
	return s, ""
}

func (m *model) spent() string {
	if m.stop() {
		return "the time ran out"
	}
	return whyStates
}

// movesToHit is the run that meets the query.
func (s *space) movesToHit() ([]move, bool) {
	path := s.path(s.hit)
	if !s.atState && s.q.sole < 0 {
		path = append(path, s.hitBy)
	}
	ms, ok := s.moves(path)
	if ok && s.q.sole >= 0 {
		ms = append(ms, move{call: countCalls(ms), shape: s.classes[s.hitBy.arg].shape})
	}
	return ms, ok
}

// objection is a net of the policy in which the run is not one that meets the
// query, -1 if there is none.
func (m *model) objection(q *query, ms []move) int {
	if len(ms) == 0 {
		return -1
	}
	last := ms[len(ms)-1]
	before := ms
	if last.shape != nil {
		before = ms[:len(ms)-1]
	}
	r, stopped := m.replay(before)
	if stopped >= 0 || last.shape == nil {
		return stopped
	}
	blocking, asking := r.judge(last.shape)
	if q.sole >= 0 {
		return m.notAlone(q.sole, blocking, asking, last.shape)
	}
	if len(blocking) > 0 {
		return m.apt(q, blocking, last.shape)
	}
	if q.unasked && len(asking) > 0 {
		return asking[0]
	}
	return -1
}

// apt is the worst of the nets, or one that waits for a success that the query
// is about.
func (m *model) apt(q *query, blocking []int, s *shape) int {
	for _, n := range blocking {
		if !slices.Contains(s.shut, n) && q.tag != nil && slices.ContainsFunc(m.byNet[n], func(i int) bool { return q.tag(m.shapes[i])&succeeded != 0 }) {
			return n
		}
	}
	return m.worst(blocking, s)
}

// notAlone is a net that refuses or asks too, where one is to do it alone; -1
// if there is none.
func (m *model) notAlone(sole int, blocking, asking []int, s *shape) int {
	others := slices.DeleteFunc(slices.Clone(blocking), func(n int) bool { return n == sole })
	switch {
	case len(others) > 0:
		return m.worst(others, s)
	case len(blocking) > 0:
		return -1
	case len(asking) == 1 && asking[0] == sole:
		return -1
	case len(asking) > 1 && slices.Contains(asking, sole):
		return asking[slices.IndexFunc(asking, func(n int) bool { return n != sole })]
	}
	return sole // it does not do it
}

// lengthen makes the run longer until it meets the query with the counters as
// they are written.
func (m *model) lengthen(q *query, s *space, ms []move) ([]move, bool) {
	return m.lengthenTo(s, ms, func(ms []move) bool { return m.objection(q, ms) < 0 })
}

// lengthenTo repeats a call of the run as often as the counters begin lower
// than they are written.
func (m *model) lengthenTo(s *space, ms []move, ok func([]move) bool) ([]move, bool) {
	for _, pos := range s.limits {
		n := s.nets[pos]
		place := n.info.Places[n.counterAt]
		more := m.nets[n.index].info.Initial[place] - n.info.Initial[place]
		for i := range ms {
			if ms[i].shape == nil {
				continue
			}
			if m.stop() {
				return nil, false
			}
			longer := repeat(ms, i, more)
			if !ok(longer) {
				continue
			}
			return longer, true
		}
	}
	return nil, false
}

// shorten writes what the run repeats, and the same calls after it that never
// end, as one.
func shorten(ms []move) []move {
	at := slices.IndexFunc(ms, func(mv move) bool { return mv.times > 0 })
	if at < 0 {
		return ms
	}
	out := slices.Clone(ms)
	for at+1 < len(out) && out[at+1].shape == out[at].shape && !endsLater(out[at+2:], out[at+1].call) {
		gone := out[at+1].call
		out = slices.Delete(out, at+1, at+2)
		out[at].times++
		for i := range out {
			if out[i].call > gone {
				out[i].call--
			}
		}
	}
	return out
}

func endsLater(ms []move, call int) bool {
	return slices.ContainsFunc(ms, func(mv move) bool { return mv.shape == nil && mv.call == call })
}

// repeat puts more calls of the shape of move i before it, each of which
// succeeds.
func repeat(ms []move, i, more int) []move {
	at := ms[i].call
	out := slices.Clone(ms[:i])
	out = append(out, move{call: at, shape: ms[i].shape, times: more})
	for _, mv := range ms[i:] {
		if mv.call >= at {
			mv.call++
		}
		out = append(out, mv)
	}
	return out
}

func countCalls(ms []move) int {
	n := 0
	for _, mv := range ms {
		if mv.shape != nil {
			n++
		}
	}
	return n
}
