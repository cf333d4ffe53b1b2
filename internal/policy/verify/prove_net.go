package verify

import (
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

func (a Conserved) tools() []gate.Tool        { return nil }
func (a Exclusive) tools() []gate.Tool        { return nil }
func (a DeadlockFree) tools() []gate.Tool     { return nil }
func (a NoTerminalStates) tools() []gate.Tool { return nil }

// proveNet tries to prove a claim about the enforced net called name. If no such net exists, the
// result is unknown.
func (m *prover) proveNet(name string, prove func(net int) Proof) Proof {
	i := slices.IndexFunc(m.Nets, func(n *explore.Net) bool { return n.Info.Name == name && !n.Info.Shadow })
	if i < 0 {
		return Proof{Why: fmt.Sprintf("no enforced net %q", name)}
	}
	return prove(i)
}

func (a Conserved) prove(m *prover) Proof {
	return m.proveNet(a.Net, func(net int) Proof { return m.proveNeverMet(m.UnbalancedQuery(net), net) })
}

func (a Exclusive) prove(m *prover) Proof {
	return m.proveNet(a.Net, func(net int) Proof {
		var places []int
		for _, p := range a.Places {
			k := slices.Index(m.Nets[net].Info.Places, p)
			if k < 0 {
				return Proof{Why: fmt.Sprintf("the net %q has no place %q", a.Net, p)}
			}
			places = append(places, k)
		}
		if len(places) > explore.MaxExclusive {
			return Proof{Why: fmt.Sprintf("more than %d places cannot be explored together", explore.MaxExclusive)}
		}
		return m.proveNeverMet(m.CoincidenceQuery(net, places), net)
	})
}

func (a DeadlockFree) prove(m *prover) Proof {
	return m.proveNet(a.Net, func(net int) Proof { return m.proveLive(net, m.Nets[net].Info.Terminal) })
}

func (a NoTerminalStates) prove(m *prover) Proof {
	return m.proveNet(a.Net, func(net int) Proof { return m.proveLive(net, nil) })
}

// proveLive tries to prove that from every state, successful calls can lead to one of two things: a
// call gated by the net, or a state where a terminal place is marked.
func (m *prover) proveLive(net int, terminal []string) Proof {
	return m.proveAlways(m.groupsOf([]int{net}), []int{net}, m.GatedGoal(net, terminal))
}
