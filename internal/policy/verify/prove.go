package verify

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// An Assertion is a claim about a policy. [Never], [NeverBefore], [NeverAfter], [NeverWhile],
// [NeverWithoutApproval], [Only], [AtMost], [Reachable], [AlwaysPossible] and [NoFailureLocks] are
// about calls; [Conserved], [Exclusive], [DeadlockFree] and [NoTerminalStates] are about nets;
// [Each] and [ForEach] combine others.
type Assertion interface {
	tools() []gate.Tool
	prove(m *prover) Proof
}

// Each claims that all of the assertions hold.
type Each struct{ Of []Assertion }

// A Proof is the result of an assertion.
type Proof struct {
	Assertion      Assertion // for Each: the assertion that the other fields are about
	Part           int       // for Each: the index of Assertion
	Result         Result
	Counterexample Trace  // if Refuted: a shortest run that violates the assertion, if a run can show it
	Witness        Trace  // for Reachable, if Proved
	Because        []Net  // nets that cause the result; if Refuted, none of them can be omitted
	Rough          bool   // if Refuted: a subset of Because might suffice, but not all subsets were tried
	Default        bool   // if Refuted: the default denies all calls that the assertion is about
	ForEach        string // if not Proved: key fields as a claim writes them, such that the claim for each of their values is proved
	Why            string
	Supposed       string // if Unknown: the tool whose existence decides the result

	query *explore.Query // query that Counterexample meets; nil: none
}

// easyStates is the bound on a search in the first round of proofs.
const easyStates = 2000

// proofs proves all assertions. It tries each with a small bound first, so that an expensive
// assertion does not use up the time of the others.
func (m *prover) proofs(all []Assertion) []Proof {
	limit := m.Limit
	m.Limit = min(limit, easyStates)
	proofs := make([]Proof, len(all))
	for i, a := range all {
		proofs[i] = m.prove(a)
	}
	m.Limit = limit
	for i, a := range all {
		if proofs[i].Result == Unknown && proofs[i].Why == explore.WhyStates && !m.Stop() {
			proofs[i] = m.prove(a)
		}
	}
	return proofs
}

func (m *prover) prove(a Assertion) Proof {
	var p Proof
	if m.Stop() {
		p.Why = m.Spent()
	} else {
		p = m.proof(a)
	}
	if p.Assertion == nil {
		p.Assertion = a
	}
	return p
}

func (a Each) tools() []gate.Tool {
	var all []gate.Tool
	for _, one := range a.Of {
		all = append(all, one.tools()...)
	}
	return all
}

// prove returns the first refuted part, or else the first unknown part.
func (a Each) prove(m *prover) Proof {
	all := Proof{Result: Proved}
	for i, one := range a.Of {
		p := m.prove(one)
		p.Part = i
		switch {
		case p.Result == Refuted:
			return p
		case all.Result == Unknown:
		case p.Result == Unknown:
			all = p
		default:
			for _, n := range p.Because {
				if !slices.Contains(all.Because, n) {
					all.Because = append(all.Because, n)
				}
			}
		}
	}
	return all
}

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

// Open is an assertion whose result is unknown for the given reason.
type Open struct{ Why string }

func (a Open) tools() []gate.Tool  { return nil }
func (a Open) prove(*prover) Proof { return Proof{Why: a.Why} }
