package verify_test

import (
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// always compares a claim about all states and checks that the trace's final state has no
// continuation. If values have two parts, a new value may be needed that brute does not try.
func (tr *trial) always(r verify.Result, t verify.Trace, what string, w want) {
	b := tr.brute
	if b.closed && r != verify.Unknown {
		if always := b.always(w); always && r == verify.Refuted && len(t) < 5 && !further(t) || !always && r == verify.Proved && !tr.two {
			tr.errorf("%s: %v %+v, brute force %v", what, r, t, always)
		}
	}
	if r != verify.Refuted {
		return
	}
	pl := replay(b.policy, t)
	if pl.refused >= 0 {
		tr.errorf("%s: step %d of %+v is refused", what, pl.refused, t)
		return
	}
	from := b.again()
	if from.goesOn(pl.state, w) {
		tr.errorf("%s: %+v can go on", what, t)
	}
}

func (tr *trial) deadlock(g verify.Group, stats map[string]int) {
	stats["deadlock "+g.Deadlock.Result.String()]++
	in, rows := map[int]bool{}, true
	for i, info := range tr.policy.Nets() {
		in[i] = slices.ContainsFunc(g.Nets, func(n verify.Net) bool { return n.Name == info.Name })
		rows = rows && (!in[i] || info.Row)
	}
	if rows {
		return // verdicts of other nets are not considered
	}
	gated := make([]bool, len(tr.brute.calls))
	for c, call := range tr.brute.calls {
		gated[c] = !isTick(call) && slices.ContainsFunc(tr.policy.Meaning(call), func(m gate.Meaning) bool {
			return in[m.Net] && slices.ContainsFunc(m.Asks, func(a gate.Asked) bool { return !a.Free })
		})
	}
	if !slices.Contains(gated, true) {
		if g.Deadlock.Result == verify.Refuted && !tr.policy.Options().Deny && !tr.sampled {
			tr.errorf("deadlock of %v, which gate nothing", g.Nets)
		}
		return
	}
	tr.always(g.Deadlock.Result, g.Deadlock.Trace, fmt.Sprint("deadlock of ", g.Nets), want{call: func(c int, _ []gate.Verdict) bool { return gated[c] }})
}
