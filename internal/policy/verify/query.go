package verify

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// safe proves that a query is never met.
func (m *prover) safe(q *explore.Query, nets ...int) Proof {
	return m.answered(m.Never(q, nets), q)
}

// answered converts the answer of a search for the query into a proof.
func (m *prover) answered(f explore.Answer, q *explore.Query) Proof {
	p := Proof{Result: f.Result, Why: f.Why, Supposed: f.Supposed}
	switch f.Result {
	case Refuted:
		p.Counterexample, p.query = trace(explore.Tidy(f.Moves, q.Tag)), q
	case Proved:
		p.Because = m.named(f.Nets)
	}
	return p
}

// earlier is the tag bit of calls that start what a monitor watches.
const earlier = 4

// tagged returns a tag function for the calls that a claim is about, those that start a watch, and
// those whose success ends it.
func tagged(about []gate.Tool, begins []gate.Tool, ends []gate.Tool) func(*callclass.Class) uint8 {
	return func(s *callclass.Class) (tag uint8) {
		if carriesAny(s, about, false) {
			tag |= explore.Wanted
		}
		if carriesAny(s, begins, false) {
			tag |= earlier
		}
		if carriesAny(s, ends, true) {
			tag |= explore.Succeeded
		}
		return tag
	}
}

func carriesAny(s *callclass.Class, names []gate.Tool, evidence bool) bool {
	return slices.ContainsFunc(names, func(t gate.Tool) bool { return s.Carries(t, evidence) })
}

// ofItself returns a tag for the calls that have the name and, as their own value, the tracked
// value.
func ofItself(t gate.Tool) func(*callclass.Class) uint8 {
	return explore.Tagged(func(s *callclass.Class) bool { return s.Carries(t, false) && s.OfItself() })
}
