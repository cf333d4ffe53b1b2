package explore

import (
	"slices"

	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// Never asks whether the query is met in any run, over all outcomes and
// interleavings. It begins with few nets and adds one that forbids the run
// which they allow, until the run stands or none is left: few nets have few
// states, and what they forbid the whole policy forbids.
func (m *Model) Never(q *Query, nets []int) answer {
	f := m.neverOf(q, nets, ViewOptions{Tag: q.Tag, about: q.Sole + 1})
	if unsure := UnsureOf(f.Moves); unsure != nil {
		f = m.neverOf(q, nets, ViewOptions{Tag: q.Tag, witnessed: true, about: q.Sole + 1})
		if f.Result == Proved {
			f = answer{Result: Unknown}
			f.Why, f.Supposed = m.Calls.Doubt(unsure, "it does not hold if there is a tool ")
		}
	}
	return f
}

// UnsureOf is a call of the run of which nobody knows that it can be made, nil
// if there is none; one of unknown arguments if there is one.
func UnsureOf(ms []Move) *callclass.Class {
	var unsure *callclass.Class
	for _, mv := range ms {
		if mv.Class != nil && mv.Class.Unsure() && (unsure == nil || mv.Class.Doubtful) {
			unsure = mv.Class
		}
	}
	return unsure
}

func (m *Model) neverOf(q *Query, nets []int, o ViewOptions) answer {
	about := nets
	nets = slices.Clone(nets)
	if o.Limit == 0 {
		o.Limit = m.Limit
	}
	for {
		s, why := m.settle(q, nets, o)
		if why != "" {
			return answer{Result: Unknown, Why: why}
		}
		if s.hit < 0 {
			if why := m.Calls.Gap(nets, q.Tag); why != "" {
				return answer{Result: Unknown, Why: why}
			}
			return m.unadvised(q, about, nets, o)
		}
		ms, ok := s.movesToHit()
		if !ok {
			return answer{Result: Unknown, Why: WhyNoRun}
		}
		n := m.Objection(q, ms)
		if n < 0 {
			return answer{Result: Refuted, Moves: ms}
		}
		if o.required && m.Nets[n].Info.Advisory {
			return answer{Result: Unknown, Why: m.Yielding([]int{n})}
		}
		if slices.Contains(nets, n) { // a counter that was made smaller does not show it
			if ms, ok = s.lengthen(q, ms); ok {
				return answer{Result: Refuted, Moves: ms}
			}
			return answer{Result: Unknown, Why: WhyLong}
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
func (m *Model) settle(q *Query, nets []int, o ViewOptions) (s *Space, why string) {
	for _, o.cap = range capSteps {
		v := m.view(nets, o)
		s = v.explore(q, v.bound(o))
		switch {
		case s.hit < 0 && !s.complete:
			return nil, m.Spent()
		case len(v.limits) == 0:
			return s, ""
		case s.hit >= 0:
			if ms, ok := s.movesToHit(); ok {
				if n := m.Objection(q, ms); n < 0 || !slices.Contains(nets, n) {
					return s, ""
				}
				if _, ok := s.lengthen(q, ms); ok {
					return s, ""
				}
			}
		case s.settled():
			return s, ""
		}
	}
	return s, ""
}

// Spent says which bound ended a search: the time, or the number of states.
func (m *Model) Spent() string {
	if m.Stop() {
		return "the time ran out"
	}
	return WhyStates
}

// movesToHit is the run that meets the query.
func (s *Space) movesToHit() ([]Move, bool) {
	path := s.path(s.hit)
	if !s.atState && s.q.Sole < 0 {
		path = append(path, s.hitBy)
	}
	ms, ok := s.moves(path)
	if ok && s.q.Sole >= 0 {
		ms = append(ms, Move{Call: countCalls(ms), Class: s.classes[s.hitBy.arg].member})
	}
	return ms, ok
}

// Objection is a net of the policy in which the run is not one that meets the
// query, -1 if there is none.
func (m *Model) Objection(q *Query, ms []Move) int {
	if len(ms) == 0 {
		return -1
	}
	last := ms[len(ms)-1]
	before := ms
	if last.Class != nil {
		before = ms[:len(ms)-1]
	}
	r, stopped := m.Replay(before)
	if stopped >= 0 || last.Class == nil {
		return stopped
	}
	blocking, asking := r.judge(last.Class)
	if q.Sole >= 0 {
		return m.notAlone(q.Sole, blocking, asking, last.Class)
	}
	if len(blocking) > 0 {
		return m.apt(q, blocking, last.Class)
	}
	if q.Unasked && len(asking) > 0 {
		return asking[0]
	}
	return -1
}

// apt is the worst of the nets, or one that waits for a success that the query
// is about.
func (m *Model) apt(q *Query, blocking []int, s *callclass.Class) int {
	for _, n := range blocking {
		if !slices.Contains(s.Shut, n) && q.Tag != nil && slices.ContainsFunc(m.byNet[n], func(i int) bool { return q.Tag(m.Classes[i])&Succeeded != 0 }) {
			return n
		}
	}
	return m.worst(blocking, s)
}

// notAlone is a net that refuses or asks too, where one is to do it alone; -1
// if there is none.
func (m *Model) notAlone(sole int, blocking, asking []int, s *callclass.Class) int {
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
func (s *Space) lengthen(q *Query, ms []Move) ([]Move, bool) {
	return s.lengthenTo(ms, func(ms []Move) bool { return s.model.Objection(q, ms) < 0 })
}

// lengthenTo repeats a call of the run as often as the counters begin lower
// than they are written.
func (s *Space) lengthenTo(ms []Move, ok func([]Move) bool) ([]Move, bool) {
	for _, pos := range s.limits {
		n := s.nets[pos]
		place := n.Info.Places[n.counterAt]
		more := s.model.Nets[n.Index].Info.Initial[place] - n.Info.Initial[place]
		for i := range ms {
			if ms[i].Class == nil {
				continue
			}
			if s.model.Stop() {
				return nil, false
			}
			longer := Repeat(ms, i, more)
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
func shorten(ms []Move) []Move {
	at := slices.IndexFunc(ms, func(mv Move) bool { return mv.Times > 0 })
	if at < 0 {
		return ms
	}
	out := slices.Clone(ms)
	for at+1 < len(out) && out[at+1].Class == out[at].Class && !endsLater(out[at+2:], out[at+1].Call) {
		gone := out[at+1].Call
		out = slices.Delete(out, at+1, at+2)
		out[at].Times++
		for i := range out {
			if out[i].Call > gone {
				out[i].Call--
			}
		}
	}
	return out
}

func endsLater(ms []Move, call int) bool {
	return slices.ContainsFunc(ms, func(mv Move) bool { return mv.Class == nil && mv.Call == call })
}

// Repeat puts more calls of the class of move i before it, each of which
// succeeds.
func Repeat(ms []Move, i, more int) []Move {
	at := ms[i].Call
	out := slices.Clone(ms[:i])
	out = append(out, Move{Call: at, Class: ms[i].Class, Times: more})
	for _, mv := range ms[i:] {
		if mv.Call >= at {
			mv.Call++
		}
		out = append(out, mv)
	}
	return out
}

func countCalls(ms []Move) int {
	n := 0
	for _, mv := range ms {
		if mv.Class != nil {
			n++
		}
	}
	return n
}
