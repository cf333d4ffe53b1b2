package verify_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// losses checks that reported losses are real and that, without the exhaustible limits, no run
// without failures causes them.
func (tr *trial) losses(stats map[string]int) {
	if tr.lossy {
		tr.missed(stats)
	}
	for _, l := range tr.report.Losses {
		stats["losses"]++
		pl := replay(tr.brute.policy, l.Trace)
		if pl.refused >= 0 {
			tr.errorf("loss of %v: step %d of %+v is refused", l.Tools, pl.refused, l.Trace)
			continue
		}
		if !slices.ContainsFunc(l.Trace, func(s verify.Step) bool { return s.Ends && s.Outcome != gate.Success }) {
			tr.errorf("loss of %v: nothing fails in %+v", l.Tools, l.Trace)
		}
		for _, t := range l.Tools {
			if tr.untold(t) {
				continue
			}
			if !slices.ContainsFunc(tr.valuesOf(t), func(value string) bool { return tr.isLost(l.Trace, t, value) }) {
				tr.errorf("loss of %v: %+v can go on, or successes take it away too", t, l.Trace)
			}
		}
	}
}

// isLost reports whether the run makes calls of the tool with the value unavailable while no run
// without failures does.
func (tr *trial) isLost(run verify.Trace, t gate.Tool, value string) bool {
	b := tr.brute.again()
	wanted := want{call: func(c int, _ []gate.Verdict) bool {
		return b.has(c, t, false) && tr.hasValue(b.calls[c], value)
	}}
	return !b.goesOn(replay(b.policy, run).state, wanted) && !tr.lostBySuccess(t, value)
}

// missed counts names that a failure makes unavailable but that are not reported.
func (tr *trial) missed(stats map[string]int) {
	p := tr.lasting()
	for _, n := range tr.report.Names {
		said := slices.ContainsFunc(tr.report.Losses, func(l verify.Loss) bool { return slices.Contains(l.Tools, n.Tool) })
		if p == nil || n.Callable != verify.Possible || said || tr.brute.sampled || n.Tool.Kind == gate.Literal {
			continue
		}
		b := &brute{policy: p, calls: tr.brute.calls, names: tr.brute.names, results: tr.brute.results}
		b.explore(n.Tool, n.Tool)
		if b.closed && !b.always(want{call: func(c int, _ []gate.Verdict) bool { return b.has(c, n.Tool, false) }}) && !tr.lostBySuccess(n.Tool, "") {
			stats["losses missed"]++
			tr.t.Logf("seed %d: nothing is said of %s\n%s", tr.seed, n.Tool.Name, tr.rules)
		}
	}
}

// TestRandomLosses tests random rules that can make tools unavailable.
func TestRandomLosses(t *testing.T) { try(t, newLossTrial, 25) }

func newLossTrial(t *testing.T, seed uint64) *trial {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 12))}
	g.names = []string{"a", "b", "c", "d"}
	var calls []gate.Call
	for _, name := range g.names {
		calls = append(calls, gate.Call{Tool: name})
	}
	var src strings.Builder
	for range 2 + g.IntN(4) {
		a, b := g.pick(g.names...), g.pick(g.names...)
		switch g.IntN(8) {
		case 0, 1, 2:
			fmt.Fprintf(&src, "require %s before %s\n", a, b)
		case 3, 4:
			fmt.Fprintf(&src, "limit %s to %d per %s\n", a, 1+g.IntN(2), b)
		case 5:
			fmt.Fprintf(&src, "limit %s to %d per successful %s\n", a, 1+g.IntN(2), b)
		case 6:
			fmt.Fprintf(&src, "limit %s to %d per session\n", a, 1+g.IntN(2))
		case 7:
			fmt.Fprintf(&src, "require %s before %s once\n", a, b)
		}
	}
	return g.trial(&trial{t: t, seed: seed, rules: src.String(), known: true, calls: calls, alone: true, lossy: true})
}

// lostBySuccess looks for a run without failures that makes the name unreachable, if the policy has
// few states.
func (tr *trial) lostBySuccess(t gate.Tool, value string) bool {
	p := tr.lasting()
	return p != nil && !tr.brute.sampled && tr.losesBySuccess(p, t, value)
}

// lasting returns the policy without the exhaustible limits. It returns nil if no other nets remain
// or if the default would refuse more calls without these limits.
func (tr *trial) lasting() *gate.Policy {
	lasting := slices.DeleteFunc(tr.brute.policy.Nets(), func(n gate.NetInfo) bool {
		return n.Shadow || n.Cause == gate.CauseLimit && !slices.ContainsFunc(n.Transitions, func(t gate.Transition) bool { return t.Observe || t.Every > 0 || isTickOf(t) })
	})
	deny := tr.brute.policy.Options().Deny
	if deny && len(lasting) < len(tr.brute.policy.Nets()) {
		return nil
	}
	var nets []gate.Net
	for _, n := range lasting {
		nets = append(nets, n.Net)
	}
	p, err := gate.NewPolicy(nets, gate.PolicyOptions{Deny: deny})
	if err != nil {
		return nil
	}
	return p
}

func (tr *trial) losesBySuccess(p *gate.Policy, t gate.Tool, value string) bool {
	b := &brute{policy: p, calls: tr.brute.calls, names: tr.brute.names, results: tr.brute.results}
	has := b.having(t, false)
	for c := range has {
		has[c] = has[c] && tr.hasValue(b.calls[c], value)
	}
	states := []*position{b.table().start}
	seen := map[*position]bool{}
	for k := 0; k < len(states) && k < bruteStates; k++ {
		goes, closed := b.goesFrom(states[k], want{call: func(c int, _ []gate.Verdict) bool { return has[c] }})
		if !goes && closed {
			return true
		}
		for c, m := range b.movesOf(states[k]) {
			if m.ok && !seen[m.done] && (tr.brute.fresh == nil || tr.brute.fresh(c)) { // another value is always available
				seen[m.done] = true
				states = append(states, m.done)
			}
		}
	}
	return false
}

// isTickOf reports whether the transition fires by the clock, so that calls represent it.
func isTickOf(t gate.Transition) bool {
	return slices.ContainsFunc(t.Tools, func(tool gate.Tool) bool { return isTick(gate.Call{Tool: tool.Name}) })
}

// TestEveryWatcherFails checks that all equal calls in flight, however many there are, must fail
// before the tool is lost.
func TestEveryWatcherFails(t *testing.T) {
	p, ok := policyOf("limit b to 4 per session\nrequire b before c\n")
	if !ok {
		t.Fatal("the policy is not admitted")
	}
	c := gate.Tool{Name: "c"}
	report := verify.Policy(p, verify.Options{Prove: []verify.Assertion{verify.NoFailureLocks{Tool: c}}})
	proof := report.Proofs[0]
	if proof.Result != verify.Refuted {
		t.Fatalf("the claim is %v, want refuted", proof.Result)
	}
	failed := 0
	for _, step := range proof.Counterexample {
		if step.Outcome == gate.Failure {
			failed++
		}
	}
	if failed != 4 {
		t.Errorf("%d of 4 calls fail: %+v", failed, proof.Counterexample)
	}
}
