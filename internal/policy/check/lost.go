package check

import (
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/rules"
)

// lost warns about tools that can no longer be called after a call has failed. It omits losses that
// are intended or reported elsewhere.
func (v *Analysis) lost() diag.List {
	var ps diag.List
	for _, l := range v.report.Losses {
		tools := slices.DeleteFunc(slices.Clone(l.Tools), v.claimedPossible)
		if len(tools) == 0 || v.deadlocked(l.Because) || v.endsWorkflow(l) {
			continue
		}
		p := Warning(codeLost, first(l.Because), fmt.Sprintf("a failed call can lock %s for good: %s %s %s then", text.And(list.Map(tools, toolText)), citedAll(l.Because), agreeing(l.Because, "forbids", "forbid"), agreeing(tools, "it", "them")), "")
		p.Detail = "  after these calls no successful calls lead to " + ruleName(tools[0]) + ":\n" + steps(l.Trace) + v.stuck(l.Trace, l.Because)
		p.Hint = v.nets.afterFailure(l.Because)
		ps = append(ps, p)
	}
	return ps
}

// claimedPossible reports whether the policy claims that the tool can always be called, and this
// claim is refuted.
func (v *Analysis) claimedPossible(t gate.Tool) bool {
	return slices.ContainsFunc(v.proofs, func(p claimProof) bool {
		return p.Kind == rules.AlwaysPossible && p.Result == verify.Refuted && p.Tool.Name == t.Name && p.Tool.Kind == t.Kind
	})
}

// deadlocked reports whether the given nets cause a deadlock.
func (v *Analysis) deadlocked(nets []verify.Net) bool {
	return slices.ContainsFunc(v.report.Groups, func(g verify.Group) bool {
		return g.Deadlock.Result == verify.Refuted && len(g.Deadlock.Trace) > 0 && slices.Equal(g.Deadlock.Because, nets)
	})
}

// endsWorkflow reports whether a tool becomes unavailable only because a workflow has ended. This
// is the case if a net that forbids calls to the tool has a token in a terminal place.
func (v *Analysis) endsWorkflow(l verify.Loss) bool {
	states := v.statesAfter(l.Trace)
	return slices.ContainsFunc(l.Because, func(n verify.Net) bool {
		info := v.nets[n.Name]
		return slices.ContainsFunc([]gate.Tokens(states[n.Name].Marking), func(t gate.Tokens) bool { return t.Count > 0 && slices.Contains(info.Terminal, t.Place) })
	})
}

// afterFailure returns a hint on how to prevent failures from using up tokens.
func (ns netInfos) afterFailure(nets []verify.Net) string {
	for _, n := range nets {
		switch ns[n.Name].Cause {
		case gate.CauseNet:
			return "use deferred: true, which returns the tokens if the call fails"
		case gate.CauseLimit:
			return "let a tool that can still be called refill the limit: failed calls count too"
		}
	}
	return ""
}
