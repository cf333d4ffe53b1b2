package explore

import (
	"slices"

	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// Result is the answer to an assertion.
type Result uint8

const (
	Unknown Result = iota
	Proved
	Refuted
)

// String is the result as "check --json" writes it.
func (r Result) String() string { return [...]string{"unknown", "proved", "refuted"}[r] }

// Reasons for an unknown answer.
const (
	WhyDoubtful = "no arguments are known that match the maps as this would need"
	WhyStates   = "there are more states than were looked at"
	WhyTime     = callclass.WhyTime
	WhyLong     = "it takes more calls than were tried"
	WhyValues   = "it depends on the values that calls have in the keys of nets"
	WhyNoRun    = "a run could not be made of the states that were found"
)

// An Answer says whether something can happen.
type Answer struct {
	Result   Result // Proved: it never happens; Refuted: moves show that it does
	Moves    []Move
	Nets     []int  // Proved: they forbid it by themselves; Refuted, of a goal: they forbid it after the moves
	Rough    bool   // Refuted, of a goal: fewer of Nets may do, and not all were tried
	Why      string // Unknown: the reason
	Supposed string // Unknown: the tool of which it depends whether it is there
}

// Never asks whether the query is met in any run, over all outcomes and
// interleavings. It begins with few nets and adds one that forbids the run
// which they allow, until the run stands or none is left: few nets have few
// states, and what they forbid the whole policy forbids.
func (m *Model) Never(q *Query, nets []int) Answer {
	o := ViewOptions{Tag: q.Tag, about: q.Sole + 1, Limit: m.Limit}
	f := m.neverOf(q, nets, o)
	if unsure := UnsureOf(f.Moves); unsure != nil {
		o.witnessed = true
		if f = m.neverOf(q, nets, o); f.Result == Proved {
			return m.doubt(unsure, "it does not hold if there is a tool ")
		}
	}
	return f
}

// doubt is unknown because nobody knows that the call can be made.
func (m *Model) doubt(unsure *callclass.Class, tool string) Answer {
	why, supposed := m.Calls.Doubt(unsure, tool)
	return Answer{Why: why, Supposed: supposed}
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

func (m *Model) neverOf(q *Query, nets []int, o ViewOptions) Answer {
	about := nets
	nets = slices.Clone(nets)
	for {
		s, why := m.exploreCapped(q, nets, o, capSteps[:])
		if why != "" {
			return Answer{Why: why}
		}
		if s.hit < 0 {
			if why := m.Calls.Gap(nets, q.Tag); why != "" {
				return Answer{Why: why}
			}
			return m.unadvised(q, about, nets, o)
		}
		ms, ok := s.movesToHit()
		if !ok {
			return Answer{Why: WhyNoRun}
		}
		n := m.Objection(q, ms)
		if n < 0 {
			return Answer{Result: Refuted, Moves: ms}
		}
		if o.required && m.Nets[n].Info.Advisory {
			return Answer{Why: m.Yielding([]int{n})}
		}
		if slices.Contains(nets, n) { // a counter that was made smaller does not show it
			if ms, ok = s.extend(q, ms); ok {
				return Answer{Result: Refuted, Moves: ms}
			}
			return Answer{Why: WhyLong}
		}
		nets = append(nets, n)
		slices.Sort(nets)
	}
}

// capSteps are the starts that are tried for large counters; 0 is the number
// as it is written.
var capSteps = [...]int{6, 14, 30, 0}

// exploreCapped explores the nets with counters that are made smaller, as far as that
// changes nothing.
func (m *Model) exploreCapped(q *Query, nets []int, o ViewOptions, caps []int) (s *Space, why string) {
	for _, o.cap = range caps {
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
				if _, ok := s.extend(q, ms); ok {
					return s, ""
				}
			}
		case s.saturated():
			return s, ""
		}
	}
	return s, ""
}

// GroupLimit is how many states of a group are looked at before simpler proofs
// are tried.
const GroupLimit = 2000

// Whole is the graph of everything that the nets can reach; nil if it is too
// large. Where counters are made smaller it is not the whole truth, but what
// can be reached from its states is.
func (m *Model) Whole(nets []int, o ViewOptions) *Space { return m.whole(nets, o, capSteps[:]) }

// Exact is the whole graph with the counters as they are written.
func (m *Model) Exact(nets []int, o ViewOptions) *Space { return m.whole(nets, o, []int{0}) }

func (m *Model) whole(nets []int, o ViewOptions, caps []int) *Space {
	s, _ := m.exploreCapped(&Query{Sole: -1, edges: true, Tag: o.Tag, Start: neverHit}, nets, o, caps)
	return s
}

// Serial is the graph of what runs reach in which each call succeeds before the next
// begins.
func (m *Model) Serial(nets []int, o ViewOptions) *Space {
	s, _ := m.exploreCapped(&Query{Sole: -1, edges: true, serial: true, Tag: o.Tag, Start: neverHit}, nets, o, capSteps[:])
	return s
}

// Any match all classes.
func Any(*callclass.Class) bool { return true }

// Tagged tags the classes that match wants.
func Tagged(match func(*callclass.Class) bool) func(*callclass.Class) uint8 {
	return func(s *callclass.Class) uint8 {
		if match(s) {
			return Wanted
		}
		return 0
	}
}

// neverHit is the start of a query that no call meets.
func neverHit(mon uint32, _ uint8, _ bool) (uint32, bool) { return mon, false }

// Spent says which bound ended a search: the time, or the number of states.
func (m *Model) Spent() string {
	if m.Stop() {
		return WhyTime
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
		calls := 0
		for _, mv := range ms {
			calls = max(calls, mv.Call+1)
		}
		ms = append(ms, Move{Call: calls, Class: s.classes[s.hitBy.arg].member})
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
		return r.otherRefuser(q.Sole, blocking, last.Class)
	}
	if len(blocking) > 0 {
		return m.pickRelevant(q, blocking, last.Class)
	}
	for _, n := range asking {
		if q.Unasked && r.asks(q, n, last.Class) {
			return n
		}
	}
	return -1
}

// pickRelevant is the worst of the nets, or one that waits for a success that the query
// is about.
func (m *Model) pickRelevant(q *Query, blocking []int, s *callclass.Class) int {
	for _, n := range blocking {
		if !slices.Contains(s.Shut, n) && q.Tag != nil && slices.ContainsFunc(m.byNet[n], func(i int) bool { return q.Tag(m.Classes[i])&Succeeded != 0 }) {
			return n
		}
	}
	return m.pickBlocking(blocking, s)
}

// otherRefuser is a net that refuses too, or asks as much, where one is to do it alone; -1
// if there is none.
func (r *run) otherRefuser(sole int, blocking []int, s *callclass.Class) int {
	others := slices.DeleteFunc(slices.Clone(blocking), func(n int) bool { return n == sole })
	switch {
	case len(others) > 0:
		return r.model.pickBlocking(others, s)
	case len(blocking) > 0:
		return -1
	}
	more, covering := asksMore(sole, r.questions(s))
	switch {
	case more:
		return -1
	case covering >= 0:
		return covering
	}
	return sole // it does not do it
}

// extend makes the run longer until it meets the query with the counters as
// they are written.
func (s *Space) extend(q *Query, ms []Move) ([]Move, bool) {
	return s.extendTo(ms, func(ms []Move) bool { return s.model.Objection(q, ms) < 0 && s.model.Meets(q, ms) })
}

// extendTo repeats a call of the run as often as the counters begin lower
// than they are written.
func (s *Space) extendTo(ms []Move, ok func([]Move) bool) ([]Move, bool) {
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
			if longer := Repeat(ms, i, more); ok(longer) {
				return longer, true
			}
		}
	}
	return nil, false
}

// mergeRepeats writes what the run repeats, and the same calls after it that never
// end, as one.
func mergeRepeats(ms []Move) []Move {
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
