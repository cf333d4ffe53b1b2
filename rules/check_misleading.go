package rules

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/text"
)

// checkMisleading reports names that stand where a call is expected, but probably mean an approval,
// a time of day, a field or the user.
func (c *compiler) checkMisleading(s Statement) {
	switch s := s.(type) {
	case *Block:
		c.checkPeople(s, s.Until, fmt.Sprintf("require human-approval before %s after %s", joinNames(s.Tools), joinNames(s.After)))
		c.checkTimes(s.After, s.Until)
	case *Approve:
		c.checkPeople(s, s.Until, "require human-approval before "+joinNames(s.Before))
		c.checkTimes(s.After, s.Until)
	case *Limit:
		c.checkEach(s)
	}
}

// checkPeople rejects human-approval after "until", and warns about similar names there. The hint
// suggests the given statement, which requires an approval.
func (c *compiler) checkPeople(s Statement, until []Name, write string) {
	for _, n := range until {
		help := "write: " + write + "; quote the name of a tool"
		switch {
		case n.Quoted:
		case n.Text == "human-approval" || n.Text == "human-approvals":
			c.failName(s, n, Unexpected, help, "a successful call ends a rule, and %s is not a call", n)
		case likeApproval(n.Text) && c.labels.maps[n.Text] == nil:
			c.warnName(n, KeywordLike, help, "a call to %s ends the rule, not an approval", n)
		}
	}
}

// timeOfDay matches times of day.
var timeOfDay = regexp.MustCompile(`^[0-9]{1,2}(:[0-9]{2})?(am|pm|h)?$`)

// timeWords lists words for times that authors write where a call is expected.
var timeWords = []string{"midnight", "noon", "midday", "morning", "evening", "night", "hours", "weekend", "weekends", "today", "tomorrow",
	"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}

// checkTimes warns about times of day in place of the calls that begin and end a rule.
func (c *compiler) checkTimes(lists ...[]Name) {
	for _, n := range slices.Concat(lists...) {
		if word := strings.ToLower(n.Text); !n.Quoted && c.labels.maps[n.Text] == nil && (slices.Contains(timeWords, word) || timeOfDay.MatchString(word)) {
			c.warnName(n, KeywordLike, "rules do not know the time of day; quote the name if it is a tool", "%s is the name of a call, not a unit of time", n)
		}
	}
}

// fieldNames lists common field names that authors write after "per" to count each value
// separately.
var fieldNames = []string{"channel", "channel_id", "path", "file", "filename", "folder", "directory", "repo", "repository", "branch", "project",
	"customer", "customer_id", "account", "recipient", "url", "host", "domain", "env", "environment", "table", "database", "tenant", "team", "group", "org", "organization", "user_id", "id"}

// userWords lists words that authors write after "per" when they mean the user. Rules take such a
// word for the name of a call.
var userWords = []string{"client", "agent", "principal", "person", "caller", "member"}

// checkEach warns about a limit that is refilled by a call whose name probably means a field or the
// user, as in "per channel".
func (c *compiler) checkEach(s *Limit) {
	n := s.Per
	if n == nil || n.Quoted || len(s.Key) > 0 || c.labels.maps[n.Text] != nil {
		return
	}
	per := ""
	switch word := strings.ToLower(n.Text); {
	case n.Text == "Agent": // Claude Code has a tool named Agent
		return
	case slices.Contains(fieldNames, word):
		per = "session for each " + n.Text
	case slices.Contains(userWords, word):
		per = "user"
	default:
		return
	}
	c.warnName(*n, KeywordLike, fmt.Sprintf("write: limit %s to %d per %s; quote the name if it is a tool", joinNames(s.Tools), s.Count, per),
		"calls to %s refill the limit", n)
}

// likeApproval reports whether a name looks like the keyword human-approval.
func likeApproval(name string) bool {
	return slices.Contains([]string{"approval", "approve", "approved", "human", "person", "confirmation"}, strings.ToLower(name)) ||
		text.Nearest(name, []string{"human-approval"}) != ""
}

// expressionSyntax matches parts of expressions that do not occur in the names of tools: an access
// to the arguments, a comparison, or a string function.
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
