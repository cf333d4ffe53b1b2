package verify

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
)

// proveWithoutBudget tries to prove the claim for the policy without the limits that gate only
// Tool. Removing these limits may allow more runs, so a counterexample is valid only if the real
// policy also admits it.
func (a AlwaysPossible) proveWithoutBudget(m *prover) Proof {
	var nets []gate.Net
	own := false
	for _, n := range m.policy.Nets() {
		net := n.Net
		if a.isOwnBudget(&net) {
			own = true
			net = unlimited(net)
		}
		nets = append(nets, net)
	}
	plain := AlwaysPossible{Tool: a.Tool}
	if !own {
		return m.proof(plain)
	}
	free, err := gate.NewPolicy(nets, m.policy.Options())
	if err != nil {
		return Proof{Why: "the policy without its own budget is not valid"}
	}
	without := newProver(free, m.options)
	without.Limit = m.Limit
	p := without.proof(plain)
	if p.Result == Refuted && !m.gateAdmits(p.Counterexample) {
		return Proof{Why: "it does not hold when its own budget is ignored, and no run was found that stays within it"}
	}
	return p
}

// isOwnBudget reports whether n is a limit that gates only Tool.
func (a AlwaysPossible) isOwnBudget(n *gate.Net) bool {
	gates := false
	for _, t := range n.Transitions {
		if t.Observe {
			continue
		}
		gates = gates || len(t.Tools) > 0
		if slices.ContainsFunc(t.Tools, func(tool gate.Tool) bool { return tool.Name != a.Tool.Name }) {
			return false
		}
	}
	return gates && n.Cause == gate.CauseLimit && !n.Shadow
}

// unlimited returns a copy of n where calls take no tokens, so that n never refuses a call.
func unlimited(n gate.Net) gate.Net {
	n.Transitions = slices.Clone(n.Transitions)
	for i := range n.Transitions {
		if t := &n.Transitions[i]; len(t.Tools) > 0 && !t.Observe {
			t.Inputs, t.Outputs, t.Deferred, t.Release, t.Key = nil, nil, false, false, nil
		}
	}
	n.Transitions = slices.DeleteFunc(n.Transitions, func(t gate.Transition) bool { return len(t.Tools) == 0 || t.Observe })
	n.Row, n.Sum, n.Key = false, nil, nil
	return n
}

// gateAdmits reports whether the gate admits the run t.
func (m *prover) gateAdmits(t Trace) bool {
	r := m.newReplay(t)
	return !slices.ContainsFunc(t, func(s Step) bool { return r.play(s) != "" })
}
