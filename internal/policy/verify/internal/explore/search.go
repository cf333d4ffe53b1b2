package explore

import (
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// NeverMet tries to prove that no run meets the query, regardless of the outcomes and interleavings
// of its calls. It uses counterexample-guided abstraction refinement. It starts with a few nets,
// because they have fewer states. If these nets forbid a call, the whole policy forbids it, too. If
// NeverMet finds a run, it adds a net that forbids the run and searches again. The result is
// [Refuted] if all nets admit the run, and [Proved] if no run is found.
func (m *Model) NeverMet(q *Query, nets []int) Answer {
	o := ViewOptions{Tag: q.Tag, about: q.Sole + 1, Limit: m.Limit}
	f := m.neverOf(q, nets, o)
	if unsure := UnsureOf(f.Moves); unsure != nil {
		o.witnessed = true
		if f = m.neverOf(q, nets, o); f.Result == Proved {
			return m.unsureAnswer(unsure, "it does not hold if there is a tool ")
		}
	}
	return f
}

// unsureAnswer returns the [Unknown] answer for a result that depends on whether calls of the given
// class are possible.
func (m *Model) unsureAnswer(unsure *callclass.Class, tool string) Answer {
	why, supposed := m.Calls.Doubt(unsure, tool)
	return Answer{Why: why, Supposed: supposed}
}

// UnsureOf returns a class of calls in ms that might be impossible, or nil if all calls in ms are
// known to be possible. It prefers a class without known arguments.
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
		s, why := m.exploreCapped(q, nets, o)
		if why != "" {
			return Answer{Why: why}
		}
		if s.hit < 0 {
			if why := m.Calls.Gap(nets, q.Tag); why != "" {
				return Answer{Why: why}
			}
			return m.proveWithoutAdvice(q, about, nets, o)
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
			return Answer{Why: m.WhyAdvisory([]int{n})}
		}
		if slices.Contains(nets, n) { // the search admitted the run only because it reduced a large counter; see [Net.cap]
			if ms, ok = s.extend(q, ms); ok {
				return Answer{Result: Refuted, Moves: ms}
			}
			return Answer{Why: WhyLong}
		}
		nets = append(nets, n)
		slices.Sort(nets)
	}
}

// capSteps holds the reduced initial markings of large counters, in the order they are tried. 0
// stands for the actual initial marking.
var capSteps = [...]int{6, 14, 30, 0}

// exploreCapped explores the nets with reduced counters. It increases the counters until the
// reduction no longer affects the answer. If the search is cut off, it returns the reason for this.
func (m *Model) exploreCapped(q *Query, nets []int, o ViewOptions) (s *Space, why string) {
	caps := capSteps[:]
	if o.Exact {
		caps = []int{0}
	}
	for _, o.cap = range caps {
		v := m.view(nets, o)
		s = v.explore(q, v.bound(o))
		switch {
		case s.hit < 0 && !s.complete:
			return nil, m.StopReason()
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

// GroupLimit is the maximum number of states visited when a group of nets is explored completely.
// If a group has more states, simpler proofs are tried.
const GroupLimit = 2000

// Whole returns the graph of all states that the nets can reach. It returns nil if there are too
// many states or the search is stopped. If counters are reduced, the graph may lack some states,
// but every state in it is reachable.
func (m *Model) Whole(nets []int, o ViewOptions) *Space {
	s, _ := m.exploreCapped(&Query{Sole: -1, edges: true, serial: o.Serial, Tag: o.Tag, Start: neverHit}, nets, o)
	return s
}

// neverHit is the Start function of a query that no call meets.
func neverHit(mon uint32, _ uint8, _ bool) (uint32, bool) { return mon, false }

// movesToHit returns the run that meets the query s.q, and reports whether it could be constructed.
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

// Objection returns the index of a net whose verdicts keep the run ms from meeting the query, or -1
// if no such net exists.
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

// pickRelevant chooses the blocking net to examine first. It prefers a net that sometimes admits
// the call and is affected by calls whose success matters to the query. If no such net exists, it
// uses the choice of [pickBlocking].
func (m *Model) pickRelevant(q *Query, blocking []int, s *callclass.Class) int {
	for _, n := range blocking {
		if !slices.Contains(s.BlockedBy, n) && q.Tag != nil && slices.ContainsFunc(m.byNet[n], func(i int) bool { return q.Tag(m.Classes[i])&Succeeded != 0 }) {
			return n
		}
	}
	return pickBlocking(blocking, s)
}

// otherRefuser checks whether the net with index sole is the only obstacle to the call. This is the
// case if only this net refuses the call. It is also the case if no net refuses the call and only
// this net requires a certain approval. otherRefuser then returns -1. Otherwise, it returns another
// net that refuses the call or requires an approval at least as strict. If the net with index sole
// neither refuses the call nor requires approval, otherRefuser returns sole.
func (r *run) otherRefuser(sole int, blocking []int, s *callclass.Class) int {
	others := slices.DeleteFunc(slices.Clone(blocking), func(n int) bool { return n == sole })
	switch {
	case len(others) > 0:
		return pickBlocking(others, s)
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
	return sole
}

// extend lengthens the run ms until it meets the query with unreduced counters (see [Net.cap]).
func (s *Space) extend(q *Query, ms []Move) ([]Move, bool) {
	return s.extendTo(ms, func(ms []Move) bool { return s.model.Objection(q, ms) < 0 && s.model.Meets(q, ms) })
}

// extendTo looks for a longer version of the run ms that satisfies accept, and reports whether it
// found one. It repeats one of the calls, once for each token missing from a reduced counter (see
// [Net.cap]).
func (s *Space) extendTo(ms []Move, accept func([]Move) bool) ([]Move, bool) {
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
			if longer := Repeat(ms, i, more); accept(longer) {
				return longer, true
			}
		}
	}
	return nil, false
}

// mergeRepeats shortens the run ms. It merges a repeated call with the calls of the same class that
// directly follow it, if these calls never end.
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

// Repeat returns a copy of ms with n additional calls inserted before move i, which must begin a
// call. The new calls have the same class as this call and succeed one after the other.
func Repeat(ms []Move, i, n int) []Move {
	at := ms[i].Call
	out := slices.Clone(ms[:i])
	out = append(out, Move{Call: at, Class: ms[i].Class, Times: n})
	for _, mv := range ms[i:] {
		if mv.Call >= at {
			mv.Call++
		}
		out = append(out, mv)
	}
	return out
}

// An advisory net stops blocking if a recovery net overrules it or if it would leave no tool. The
// searches ignore this and assume that an advisory net always blocks. A run that they find is still
// real, because no net blocks its calls. But a proof that no run exists must also hold without the
// advisory nets.

// WhyAdvisory returns the reason to give for an unknown answer if any of the nets is advisory.
// Otherwise, it returns "".
func (sys *system) WhyAdvisory(nets []int) string {
	for _, n := range nets {
		if sys.Nets[n].Info.Advisory {
			return fmt.Sprintf("the advisory net %s does not block where it yields", sys.Nets[n].Info.Name)
		}
	}
	return ""
}

// proveWithoutAdvice repeats the proof that no run meets the query, assuming that advisory nets
// block nothing. initial contains the nets at the start of the original search.
func (m *Model) proveWithoutAdvice(q *Query, initial, nets []int, o ViewOptions) Answer {
	why := m.WhyAdvisory(nets)
	switch {
	case why == "":
		return Answer{Result: Proved, Nets: nets}
	case q.state != nil && m.WhyAdvisory(initial) != "": // the query is about the states of an advisory net
		if len(nets) == len(initial) {
			return Answer{Result: Proved, Nets: nets} // calls that the net blocks do not change its state, so it does not matter whether they are made
		}
		return Answer{Why: why}
	}
	o.required = true
	required := slices.DeleteFunc(slices.Clone(nets), func(n int) bool { return m.Nets[n].Info.Advisory })
	if f := m.neverOf(q, required, o); f.Result == Proved {
		return f
	}
	return Answer{Why: why}
}
