package verify_test

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// because checks that the nets reported as the cause forbid a name on their own, and that all of
// them are needed.
func (tr *trial) because(n verify.Name) {
	if n.Default || tr.policy.Options().Deny || tr.partial {
		return // the default forbids more without a net
	}
	if admitted, closed := tr.admits(n.Because, n.Tool); admitted || !closed {
		if admitted {
			tr.errorf("%s: %v alone do not forbid it", n.Tool.Name, n.Because)
		}
		return
	}
	for i := range n.Because {
		fewer := slices.Delete(slices.Clone(n.Because), i, i+1)
		if admitted, closed := tr.admits(fewer, n.Tool); !admitted && closed {
			tr.errorf("%s: %v forbid it too without %v", n.Tool.Name, n.Because, n.Because[i])
		}
	}
}

// admits reports whether the given nets alone admit a call with the name.
func (tr *trial) admits(nets []verify.Net, name gate.Tool) (admitted, closed bool) {
	var few []gate.Net
	for _, info := range tr.brute.policy.Nets() {
		if slices.ContainsFunc(nets, func(n verify.Net) bool { return n.Name == info.Name }) {
			few = append(few, info.Net)
		}
	}
	p, err := gate.NewPolicy(few, gate.PolicyOptions{Labels: tr.policy.Options().Labels})
	if err != nil {
		return false, false
	}
	b := &brute{policy: p, calls: tr.brute.calls, names: tr.brute.names} // a call can have fewer names without a rule
	b.explore(name, name)
	return b.admitted(func(_, c int) bool { return b.has(c, name, false) }), b.closed
}
