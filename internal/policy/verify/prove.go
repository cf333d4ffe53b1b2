package verify

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// An Assertion is a claim about a policy. About calls: [Never], [NeverBefore],
// [NeverAfter], [NeverWhile], [NeverWithoutApproval], [Only], [AtMost], [Reachable] and
// [AlwaysPossible]; about nets: [Conserved], [Exclusive], [DeadlockFree] and
// [NoTerminalStates]; about several of them: [Each].
type Assertion interface {
	tools() []gate.Tool
	prove(m *prover) Proof
}

// Each claims that all of the assertions hold.
type Each struct{ Of []Assertion }

// A Proof is what came of an assertion.
type Proof struct {
	Assertion      Assertion // of Each: the one of which the rest speaks
	Part           int       // of Each: its index
	Result         Result
	Counterexample Trace  // shortest; where Refuted, as far as there is a run that shows it
	Witness        Trace  // of Reachable, where Proved
	Because        []Net  // nets that cause it; where Refuted, none of them can be left out
	Rough          bool   // where Refuted: fewer of Because may do, and not all were tried
	Default        bool   // where Refuted: the default denies all calls that it is about
	ForEach        string // where not Proved: the fields of a key, as a claim has them; the same claim for each value of them is proved
	Why            string
	Supposed       string // where Unknown: the tool of which it depends whether it is there

	query *explore.Query // that Counterexample meets; nil: none
}

// easyStates is how many states a search looks at before others have had their turn.
const easyStates = 2000

// proofs are those of all assertions: first those that are easy, so that none
// is unknown for the time that another one takes.
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

// prove looks for an assertion that is refuted, then for one that is unknown.
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

// safe is the proof that a query is never met.
func (m *prover) safe(q *explore.Query, nets ...int) Proof {
	return m.answered(m.Never(q, nets), q)
}

// answered is the proof of a search for the query.
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

// earlier is the bit of a tag of calls that begin what a monitor watches.
const earlier = 4

// tagged tags calls: those that a claim is about, those with which something begins,
// and those whose success ends it.
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

// Open is an assertion of which nothing is known, for a reason.
type Open struct{ Why string }

func (a Open) tools() []gate.Tool  { return nil }
func (a Open) prove(*prover) Proof { return Proof{Why: a.Why} }
