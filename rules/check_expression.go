package rules

import (
	"fmt"
	"regexp"
	"slices"
)

// expressionSyntax matches parts of an expression that do not occur in tool names: an access to the
// arguments, a comparison, or a string function.
var expressionSyntax = regexp.MustCompile(`(?:^|[^\w.-])(?:args|annotations)\s*(?:\.|\[)|[=!<>]=|&&|\|\||\s[<>]\s|\.(?:matches|startsWith|endsWith|contains|exists|all)\(`)

// checkExpressions warns about names in a rule that look like expressions.
func (c *compiler) checkExpressions(s Statement) {
	var r *Rule
	var tools []Name
	switch s := s.(type) {
	case *Require:
		r, tools = &s.Rule, s.Before
	case *Approve:
		r, tools = &s.Rule, s.Before
	case *Block:
		r, tools = &s.Rule, s.Tools
	case *Limit:
		r, tools = &s.Rule, s.Tools
	case *Allow:
		r = &Rule{}
	default:
		return
	}
	for _, n := range s.names() {
		if c.labels.maps[n.Text] != nil || !expressionSyntax.MatchString(n.Text) {
			continue
		}
		hint := fmt.Sprintf("write: map tool when %s as name, and use the name in the rule", quote(n.Text))
		if slices.Contains(r.Unless, n) {
			hint = fmt.Sprintf("write: map %s when %s as safe, and end the rule with: unless safe", tools[0], quote(n.Text))
		}
		c.warnName(n, LikeExpression, hint, "%s is read as the name of a tool, not as an expression", n)
	}
}
