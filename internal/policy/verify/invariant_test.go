package verify_test

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// net returns the trial's net with the given name, and its index.
func (tr *trial) net(name string) (int, *gate.NetInfo) {
	nets := tr.policy.Nets()
	i := slices.IndexFunc(nets, func(n gate.NetInfo) bool { return n.Name == name })
	return i, &nets[i]
}

// invariant compares a claim about all states of a net with the states found by brute and with the
// final state of the counterexample.
func (tr *trial) invariant(p verify.Proof, name string, holds func(*gate.NetInfo, *gate.NetData) bool) {
	i, net := tr.net(name)
	broken := slices.ContainsFunc(tr.brute.states, func(st bruteState) bool {
		return slices.ContainsFunc(statesOf(st.s.Nets[i]), func(d *gate.NetData) bool { return !holds(net, d) })
	})
	switch {
	case p.Result == verify.Proved && broken, p.Result == verify.Refuted && !broken && tr.brute.closed && len(p.Counterexample) < 6:
		tr.errorf("%T %+v: broken %v", p.Assertion, p, broken)
	case p.Result == verify.Refuted:
		if pl := replay(tr.brute.policy, p.Counterexample); pl.refused >= 0 || !slices.ContainsFunc(statesOf(pl.state.Nets[i]), func(d *gate.NetData) bool { return !holds(net, d) }) {
			tr.errorf("%T %+v: it holds at the end", p.Assertion, p)
		}
	}
}

// initially returns the number of tokens in the net's initial marking.
func initially(n *gate.NetInfo) (sum int) {
	for _, tokens := range n.Initial {
		sum += tokens
	}
	return sum
}

// present returns the number of tokens, including those in flight.
func present(n *gate.NetInfo, d *gate.NetData) (sum int) {
	for _, tokens := range d.Marking {
		sum += tokens
	}
	for _, f := range d.Flights {
		sum += len(n.Transitions[f.Transition].Inputs)
	}
	return sum
}

// marked returns the number of places that hold a token or whose token was taken by a call in
// flight.
func marked(n *gate.NetInfo, d *gate.NetData, places []string) (count int) {
	for _, p := range places {
		from := func(f gate.Flight) bool { return slices.Contains(n.Transitions[f.Transition].Inputs, p) }
		if d.Marking[slices.Index(n.Places, p)] > 0 || slices.ContainsFunc(d.Flights, from) {
			count++
		}
	}
	return count
}

func released(_ int, n *gate.NetInfo) bool {
	return slices.ContainsFunc(n.Transitions, func(t gate.Transition) bool { return t.Release })
}
