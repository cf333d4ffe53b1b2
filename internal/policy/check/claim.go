package check

import (
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/rules"
)

// Assertion is what has to be proved for a claim.
func Assertion(c policy.Claim) verify.Assertion {
	switch c.Kind {
	case rules.Never:
		return verify.Never{Tool: c.Tool}
	case rules.NeverBefore:
		return verify.NeverBefore{Tool: c.Tool, First: c.First}
	case rules.NeverWithoutApproval:
		return verify.NeverWithoutApproval{Tool: c.Tool}
	case rules.AtMost:
		return verify.AtMost{Count: c.Count, Tool: c.Tool}
	case rules.Reachable:
		return verify.Reachable{Tool: c.Tool}
	case rules.AlwaysPossible:
		return verify.AlwaysPossible{Tool: c.Tool}
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
