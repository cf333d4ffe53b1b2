package verify

import (
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// easyStates is the maximum number of states per search in the first round of proofs. This round is
// meant to settle the easy assertions.
const easyStates = 2000

// proveAll tries to prove all assertions. It tries each with a low limit first, so that an
// expensive assertion does not take the time needed for the rest.
func (m *prover) proveAll(all []Assertion) []Proof {
	limit := m.Limit
	m.Limit = min(limit, easyStates)
	proofs := list.Map(all, m.prove)
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
		p.Why = m.StopReason()
	} else {
		p = m.proof(a)
	}
	if p.Assertion == nil {
		p.Assertion = a
	}
	return p
}

func (a Each) tools() []gate.Tool { return list.FlatMap(a.Of, Assertion.tools) }

// prove tries to prove every assertion in a.Of and returns the first refutation. If no assertion is
// refuted, it returns the first unknown result. If all are proved, Because contains the nets of all
// proofs.
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
			all.Because = list.Add(all.Because, p.Because...)
		}
	}
	return all
}

// Open describes an assertion that cannot be decided. Why states the reason.
type Open struct{ Why string }

func (a Open) tools() []gate.Tool  { return nil }
func (a Open) prove(*prover) Proof { return Proof{Why: a.Why} }
