package verify

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// proveNeverMet tries to prove that no run meets the query. The search begins with the given nets.
func (m *prover) proveNeverMet(q *explore.Query, nets ...int) Proof {
	return m.toProof(m.NeverMet(q, nets), q)
}

// toProof converts the answer of a search for q to a proof.
func (m *prover) toProof(f explore.Answer, q *explore.Query) Proof {
	p := Proof{Result: f.Result, Why: f.Why, Supposed: f.Supposed}
	switch f.Result {
	case Refuted:
		p.Counterexample, p.query = trace(explore.Tidy(f.Moves, q.Tag)), q
	case Proved:
		p.Because = m.named(f.Nets)
	}
	return p
}

// earlier is the tag bit of calls that change the monitor's state when they begin.
const earlier = 4

// tagger returns a function that tags classes of calls for a query. Calls with a name from the
// first list get the tag bit [explore.Wanted], and those with a name from the second list get
// [earlier]. Calls whose success counts for a name from the third list get [explore.Succeeded].
func tagger(about []gate.Tool, begins []gate.Tool, ends []gate.Tool) func(*callclass.Class) uint8 {
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

// onSuccess returns a function for the field Done of an [explore.Query]. The function sets the
// monitor's state to next when a call tagged as [explore.Succeeded] succeeds.
func onSuccess(next uint32) func(mon uint32, tag uint8) uint32 {
	return func(mon uint32, tag uint8) uint32 {
		if tag&explore.Succeeded != 0 {
			return next
		}
		return mon
	}
}

func carriesAny(s *callclass.Class, names []gate.Tool, evidence bool) bool {
	return slices.ContainsFunc(names, func(t gate.Tool) bool { return s.Carries(t, evidence) })
}

// ownTagger returns a function that tags calls with the given name if they have the key value that
// the proof considers; see [callclass.Class.TracksFirst].
func ownTagger(t gate.Tool) func(*callclass.Class) uint8 {
	return explore.Tagger(func(s *callclass.Class) bool { return s.Carries(t, false) && s.TracksFirst() })
}
