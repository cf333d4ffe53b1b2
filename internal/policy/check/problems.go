package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/rules"
)

// Problems returns the errors and warnings found in the policy.
func (v *Analysis) Problems() diag.List {
	var ps diag.List
	for _, p := range v.proofs {
		switch p.Result {
		case verify.Refuted:
			ps = append(ps, v.refuted(p))
		case verify.Unknown:
			q := Warning(codeUnproved, diag.Position(p.Rule), "not known: "+p.Text, v.effort.reason(p.Why))
			if len(p.Parts) > 0 {
				q.Detail = "  it is not known whether: " + p.part() + "\n"
			}
			if p.ForEach != "" {
				q.Hint += "; " + p.holdsForEach()
			}
			ps = append(ps, q)
		}
	}
	return slices.Concat(ps, v.uncallable(), v.deadTransitions(), v.failing(), v.deadlocks(), v.lost(), v.redundant(), v.milder())
}

// refuted returns the problem for a refuted claim, including the counterexample.
func (v *Analysis) refuted(p claimProof) diag.Problem {
	q := Warning(codeRefuted, diag.Position(p.Rule), "refuted: "+p.Text, "")
	q.Severity = diag.Error
	if len(p.Parts) > 0 {
		q.Detail = "  it does not hold that: " + p.part() + "\n"
	}
	switch {
	case len(p.Counterexample) > 0:
		q.Detail += "  these calls are admitted" + brokenBy(p) + ":\n" + steps(p.Counterexample) + noEvidence(p)
		q.Hint = v.onlyBy(p)
	case len(p.Because) > 0:
		q.Hint = "because of " + citedAll(p.Because)
		if p.Why != "" {
			q.Hint = p.Why + ": " + citedAll(p.Because)
		}
	case p.Default:
		q.Hint = whyDefault + "; to allow it, write: allow " + toolText(p.Tool)
	case p.Kind == rules.AlwaysPossible || p.Kind == rules.DeadlockFree || p.Kind == rules.NoTerminalStates || p.Kind == rules.Exclusive:
		q.Hint = "it does not hold even at the start"
	}
	q.Detail += v.refutingState(p)
	q.Hint = cmp.Or(q.Hint, p.Why)
	if p.ForEach != "" {
		q.Hint = p.holdsForEach()
	}
	return q
}

// holdsForEach returns a hint for a claim that was proved only for each value of an argument
// separately. It suggests adding a phrase such as "for each path" to the claim.
func (p claimProof) holdsForEach() string {
	return "it is proved " + p.ForEach + ": add that to the claim if you mean it"
}

// noEvidence lists calls in the counterexample whose success does not count toward the claim, and
// explains why.
func noEvidence(p claimProof) string {
	var b strings.Builder
	for i, s := range p.Counterexample {
		if a, ok := p.Assertion.(verify.NeverBefore); ok && s.Weak && s.Name == a.First.Name && (s.Times > 0 || succeeds(p.Counterexample[i:])) {
			fmt.Fprintf(&b, "  step %d does not count as evidence: such a call does not show whether %s succeeded\n", len(TraceLines(p.Counterexample[:i]))+1, text.Escape(s.Name))
		}
	}
	return b.String()
}

// succeeds reports whether the first call in t succeeds.
func succeeds(t verify.Trace) bool {
	return slices.ContainsFunc(t, func(s verify.Step) bool { return s.Ends && s.Call == t[0].Call && s.Outcome == gate.Success })
}

// uncallable reports names that can never be called. It omits names that only block rules forbid.
// It also omits known tools that no net lists and that are refused only because calls are denied by
// default.
func (v *Analysis) uncallable() diag.List {
	var ps diag.List
	for cause, names := range v.grouped(v.uncallableUnexpectedly, func(n verify.Name) string { return citedAll(n.Because) }) {
		p := Warning(codeNever, v.nets.forbiddingRule(names[0]), text.And(list.Map(names, nameText))+" can never be called", "")
		if cause == "" {
			p.Hint = whyDefault
		} else {
			p.Msg += ", because of " + cause
			p.Detail = v.nets.reasons(names[0].Because)
		}
		for _, n := range names {
			p.Detail += v.whyDead(ruleName(n.Tool), n.Because)
		}
		ps = append(ps, p)
	}
	return ps
}

// uncallableUnexpectedly reports whether the name can never be called and the policy's author
// probably did not intend this.
func (v *Analysis) uncallableUnexpectedly(n verify.Name) bool {
	return n.Callable == verify.Impossible && !v.nets.blocked(n) && (len(n.Because) > 0 || !slices.Contains(v.unlisted, n.Tool.Name))
}

// forbiddingRule returns the position of the first net that forbids the name. It prefers nets that
// list the name and do not come from block rules.
func (ns netInfos) forbiddingRule(n verify.Name) diag.Position {
	for _, net := range n.Because {
		if ns[net.Name].Cause != gate.CauseBlock && slices.Contains(listed(ns[net.Name]), ruleName(n.Tool)) {
			return diag.Position(net.Rule)
		}
	}
	return first(n.Because)
}

// reasons returns the reasons given in the nets' rules, one per line.
func (ns netInfos) reasons(nets []verify.Net) string {
	var b strings.Builder
	for _, n := range nets {
		if info := ns[n.Name]; info.Labels != nil {
			fmt.Fprintf(&b, "  %s:%d: %s\n", n.Rule.File, n.Rule.Line, reason(info))
		}
	}
	return b.String()
}

// blocked reports whether the name can never be called only because of block rules.
func (ns netInfos) blocked(n verify.Name) bool {
	return len(n.Because) > 0 && !slices.ContainsFunc(n.Because, func(net verify.Net) bool { return ns[net.Name].Cause != gate.CauseBlock })
}

func (v *Analysis) failing() diag.List {
	var ps diag.List
	for _, n := range v.names {
		if n.Callable != verify.AfterFailure {
			continue
		}
		p := Warning(codeFailing, v.speaksOf(n.Tool), toolText(n.Tool)+" can be called only after calls that fail or overlap", "")
		if len(n.Failing) > 0 {
			p.Detail = "  such as:\n" + steps(n.Failing)
		}
		ps = append(ps, p)
	}
	return ps
}

// speaksOf returns the position of the first net that lists the tool.
func (v *Analysis) speaksOf(tool gate.Tool) diag.Position {
	nets := list.FlatMap(v.report.Groups, func(g verify.Group) []verify.Net { return g.Nets })
	return first(list.Filter(nets, func(n verify.Net) bool { return slices.Contains(listed(v.nets[n.Name]), ruleName(tool)) }))
}

// deadlocks reports sequences of calls that lead to a state where a group of nets forbids all calls
// that it gates. It does not report an exhausted session limit, a block, or the end of a workflow,
// because these are intended.
func (v *Analysis) deadlocks() diag.List {
	var ps diag.List
	for _, g := range v.report.Groups {
		if g.Deadlock.Result != verify.Refuted || len(g.Deadlock.Trace) == 0 || slices.ContainsFunc(g.Deadlock.Because, v.nets.ends) || v.claimed(g.Deadlock) {
			continue
		}
		p := Warning(codeDeadlock, first(g.Deadlock.Because), "the policy can get stuck: "+citedAll(g.Deadlock.Because)+" can forbid all further calls", "")
		p.Detail = "  after these calls:\n" + steps(g.Deadlock.Trace) + v.stuck(g.Deadlock.Trace, g.Deadlock.Because)
		if slices.ContainsFunc(g.Deadlock.Because, func(n verify.Net) bool { return v.nets[n.Name].Cause == gate.CauseNet }) {
			p.Hint = "if a workflow may end there, name its places under terminalPlaces"
		}
		ps = append(ps, p)
	}
	return ps
}

// claimed reports whether a refuted claim already shows the deadlock d.
func (v *Analysis) claimed(d verify.Deadlock) bool {
	return slices.ContainsFunc(v.proofs, func(p claimProof) bool {
		return p.Result == verify.Refuted && slices.Equal(p.Because, d.Because) && slices.Equal(p.Counterexample, d.Trace)
	})
}

func (ns netInfos) ends(net verify.Net) bool {
	n := ns[net.Name]
	refills := slices.ContainsFunc(n.Transitions, func(t gate.Transition) bool { return t.Observe })
	return n.Cause == gate.CauseLimit && !refills || n.Cause == gate.CauseBlock || len(n.Terminal) > 0
}

// redundant reports nets that never change a verdict, except where this is expected or already
// reported.
func (v *Analysis) redundant() diag.List {
	var ps diag.List
	for _, r := range v.report.Redundant {
		if v.narrowedByConfig(r) || v.gatesOnlyUncallable(r.Net) || v.unreached(r.Net) || v.nets[r.Net.Name].Cause == gate.CauseAllow && !v.policy.Options().Deny {
			continue
		}
		p := Warning(codeRedundant, diag.Position(r.Net.Rule), r.Net.Name+" never changes a verdict", "")
		p.Hint = v.nets.whyRedundant(r.Because)
		ps = append(ps, p)
	}
	return ps
}

// narrowedByConfig reports whether nets of the configuration make a net of a base policy redundant.
// A configuration is expected to narrow its base policies.
func (v *Analysis) narrowedByConfig(r verify.Redundant) bool {
	ofBase := func(n verify.Net) bool { return slices.Contains(v.bases, n.Rule.File) }
	return ofBase(r.Net) && slices.ContainsFunc(r.Because, func(n verify.Net) bool { return !ofBase(n) })
}

// whyRedundant returns a phrase that explains how the given nets make another net redundant: they
// forbid the same calls or require approval for them.
func (ns netInfos) whyRedundant(nets []verify.Net) string {
	asking := list.Filter(nets, func(n verify.Net) bool {
		return slices.ContainsFunc(ns[n.Name].Transitions, func(t gate.Transition) bool { return t.Manual })
	})
	switch {
	case len(nets) == 0:
		return ""
	case len(asking) == len(nets):
		return citedAll(nets) + agreeing(nets, " requires", " require") + " approval whenever it does"
	case len(asking) == 0:
		return citedAll(nets) + agreeing(nets, " forbids", " forbid") + " before it does"
	}
	return citedAll(nets) + " forbid it or require approval before it does"
}

// agreeing returns the verb form that agrees with the number of nets: singular for exactly one net,
// and plural otherwise.
func agreeing[T any](all []T, singular, plural string) string {
	if len(all) == 1 {
		return singular
	}
	return plural
}

// unreached reports whether the net is a limit that was found to be unreachable when the policy was
// built.
func (v *Analysis) unreached(net verify.Net) bool {
	return slices.ContainsFunc(v.found, func(p diag.Problem) bool {
		return p.Code == string(rules.IdleLimit) && p.File == net.Rule.File && p.Line == net.Rule.Line && p.Column == net.Rule.Column
	})
}

// gatesOnlyUncallable reports whether all tools that the net gates are reported as uncallable.
func (v *Analysis) gatesOnlyUncallable(net verify.Net) bool {
	gating := list.Filter(v.nets[net.Name].Transitions, func(t gate.Transition) bool { return !t.Observe })
	gated := list.FlatMap(gating, func(t gate.Transition) []gate.Tool { return t.Tools })
	return len(gated) > 0 && !slices.ContainsFunc(gated, func(tool gate.Tool) bool {
		return !slices.ContainsFunc(v.names, func(n verify.Name) bool { return ruleName(n.Tool) == ruleName(tool) && v.uncallableUnexpectedly(n) })
	})
}

// onlyBy returns a hint for a refuted claim of the form "prove only ...". The hint suggests a rule
// for the calls that the claim does not mention. For all other claims, and if calls are denied by
// default, onlyBy returns "".
func (v *Analysis) onlyBy(p claimProof) string {
	a, ok := p.Assertion.(verify.Only)
	if !ok || v.policy.Options().Deny {
		return ""
	}
	names, rule := strings.Join(list.Map(a.Tools, toolText), ", "), "block *"
	if a.Unapproved != nil {
		rule = "require human-approval before *"
	}
	return fmt.Sprintf("other calls are allowed by default; add the rule: %s unless %s; or write in the configuration: default: deny, and the rule: allow %s", rule, names, names)
}
