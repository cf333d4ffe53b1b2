package check

import (
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/rules"
)

// Assertion converts a policy's claim to an assertion for package verify.
func Assertion(c policy.Claim) verify.Assertion {
	if len(c.Parts) == 0 {
		return assertion(c)
	}
	return verify.Each{Of: list.Map(c.Parts, assertion)}
}

// assertion converts a single claim for package verify. [Assertion] also converts a claim that is
// split into several; see [policy.Claim].
func assertion(c policy.Claim) verify.Assertion {
	if key := c.Key; len(key) > 0 {
		c.Key = nil
		return verify.ForEach{Of: assertion(c), Key: compared(key)}
	}
	switch c.Kind {
	case rules.Never:
		return verify.Never{Tool: c.Tool}
	case rules.NeverBefore:
		return verify.NeverBefore{Tool: c.Tool, First: c.First, Once: c.Once}
	case rules.NeverAfter:
		return verify.NeverAfter{Tool: c.Tool, After: c.First, Until: c.Until, Unapproved: approval(c)}
	case rules.NeverWhile:
		return verify.NeverWhile{Tool: c.Tool, Other: c.First}
	case rules.NeverWithoutApproval:
		return verify.NeverWithoutApproval{Tool: c.Tool, Approval: *approval(c)}
	case rules.Only:
		return verify.Only{Tools: c.Tools, Unapproved: approval(c)}
	case rules.AtMost:
		return verify.AtMost{Count: c.Count, Tools: c.Tools, Per: period(c)}
	case rules.Reachable:
		return verify.Reachable{Tool: c.Tool}
	case rules.AlwaysPossible:
		return verify.AlwaysPossible{Tool: c.Tool, ButBudget: c.OwnBudget}
	case rules.NoFailureLocks:
		return verify.NoFailureLocks{Tool: c.Tool}
	case rules.NarrowerThan:
		return verify.Open{Why: "only petrigate check and serve compare with another policy"}
	case rules.Conserved:
		return verify.Conserved{Net: c.Net}
	case rules.Exclusive:
		return verify.Exclusive{Net: c.Net, Places: c.Places}
	case rules.DeadlockFree:
		return verify.DeadlockFree{Net: c.Net}
	default:
		return verify.NoTerminalStates{Net: c.Net}
	}
}

// approval returns the approval mentioned in the claim, or nil if it mentions no approval.
func approval(c policy.Claim) *verify.Approval {
	if c.Approval == nil {
		return nil
	}
	return &verify.Approval{Count: c.Approval.Count, Via: c.Approval.Via}
}

// period returns the period over which the claim counts calls.
func period(c policy.Claim) verify.Period {
	return verify.Period{Call: c.First, Successful: c.Successful, User: c.User || c.Over == rules.User, Window: c.Over.Window()}
}

// compared converts the key of a claim for package verify, which checks the claim separately for
// each value of the key. It leaves expressions as source text. Package verify uses the compiled
// expression of a rule with the same text.
func compared(key []rules.KeyField) []verify.Compared {
	field := func(f rules.Field) gate.Field {
		out := gate.Field{Result: f.Result, Source: f.String()}
		if !f.Expression {
			out.Path = f.Text
		}
		return out
	}
	return list.Map(key, func(k rules.KeyField) verify.Compared {
		return verify.Compared{Field: field(k.Field), Other: field(k.Other)}
	})
}
