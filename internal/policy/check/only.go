package check

import (
	"fmt"
	"strings"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// onlyBy returns a hint if the default admits calls that a claim with "only" forbids. For the claim
// to hold, the default or a rule must deny these calls.
func (v *Analysis) onlyBy(p proven) string {
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
