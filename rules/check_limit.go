package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/text"
)

// refillWords lists the keywords that may follow "per".
var refillWords = append(SpanWords(), "successful")

func (c *compiler) checkLimit(s *Limit) {
	if s.Per == nil {
		return
	}
	for _, tool := range s.Tools {
		switch {
		case tool.same(*s.Per):
			c.failName(s, *s.Per, SelfRefill, "write: per session", "%s would refill its own limit", tool)
			return
		case c.labels.covers(tool, *s.Per) && !s.exempts(*s.Per):
			c.failName(s, *s.Per, SelfRefill, "write: per session", "every call to %s is also a call to %s: the limit would refill itself", s.Per, tool)
			return
		case s.exempts(*s.Per):
		case hasTwoFields(s.Key) && (c.labels.isOneOf(tool, *s.Per) || c.labels.isOneOf(*s.Per, tool)):
			c.warnName(*s.Per, OwnRefill, "count per a different call", "a call to %s can count for one value and refill the limit of another: the limit refills itself", s.Per)
		case tool.Glob() && !s.Per.Glob() && toolnet.MatchGlob(tool.Text, s.Per.Text):
			c.warnName(*s.Per, NoRefill, "", "%s is one of %s: its calls use up the limit instead of refilling it", s.Per, tool)
		}
	}
	c.checkPeriod(s)
	c.checkEvidence(*s.Per, "refills the limit of "+joinNames(s.Tools))
}

// longPeriods lists periods that authors use but limits do not support.
var longPeriods = []string{"week", "month", "quarter", "year"}

// checkPeriod warns if the call that refills a limit has a name that looks like a period, such as
// "month".
func (c *compiler) checkPeriod(s *Limit) {
	meant := text.Suggest(s.Per.Text, refillWords)
	switch {
	case s.Per.Quoted:
	case slices.Contains(longPeriods, s.Per.Text):
		c.warnName(*s.Per, KeywordLike, "use "+text.Join(TimeSpans(), "or")+"; quote the name if it is a tool",
			"calls to %s refill the limit", s.Per)
	case meant != "":
		c.warnName(*s.Per, KeywordLike, meant, "calls to %s refill the limit", s.Per)
	}
}

// checkLimits warns about contradictory limits, limits refilled by failed calls, and limits that
// are never reached.
func (c *compiler) checkLimits() {
	c.checkContrary()
	c.checkFailures()
	over := c.findStrongerRules()
	for _, s := range statementsOf[*Limit](c.statements) {
		if c.failed[s] == nil {
			c.checkIdle(s, over)
		}
	}
}

// checkContrary warns about limits on the same name that differ only in the count. It does not warn
// about a limit that narrows a limit in a base file.
func (c *compiler) checkContrary() {
	first := make(map[string]*Limit)
	for _, s := range statementsOf[*Limit](c.statements) {
		key := fmt.Sprint(s.Shadow, s.subject(), " ", joinNames(s.Unless))
		switch earlier := first[key]; {
		case earlier == nil, c.fileOf[earlier].Base && !c.fileOf[s].Base && s.Count < earlier.Count:
			first[key] = s
		default:
			c.warn(s, ContraryLimits, "", "%s already has a limit of %s %s at %s; both apply", joinNames(s.Tools), earlier.countText(), s.span()+keyEach(s.Key), earlier.Pos)
		}
	}
}

// subject returns a description of the limit without its count: the names, the field of a sum, the
// span and the key. It is used to find limits that differ only in the count.
func (s *Limit) subject() string {
	of := ""
	if s.Of != nil {
		of = s.Of.String()
	}
	return fmt.Sprintf("%s %s %s%s", joinNames(s.Tools), of, s.span(), keyEach(s.Key))
}

// countText returns the limit's count with its unit, for messages.
func (s *Limit) countText() string {
	if s.Of != nil {
		return fmt.Sprintf("%d of %s", s.Count, s.Of)
	}
	return text.Count(s.Count, "call")
}

// checkFailures warns if failed calls to A refill a limit on B, although another rule requires a
// successful call to A before B.
func (c *compiler) checkFailures() {
	type pair struct{ first, before string }
	required := make(map[pair]*Require)
	for _, s := range statementsOf[*Require](c.statements) {
		for _, first := range s.First {
			for _, before := range s.Before {
				required[pair{first.String(), before.String()}] = s
			}
		}
	}
	for _, s := range statementsOf[*Limit](c.statements) {
		if s.Per == nil || s.Successful {
			continue
		}
		for _, tool := range s.Tools {
			if r := required[pair{s.Per.String(), tool.String()}]; r != nil && !r.Or {
				c.warnName(*s.Per, FailureRefills, fmt.Sprintf("write: per successful %s", s.Per),
					"a failed call to %s also refills the limit of %s, but %s requires a successful one", s.Per, tool, r.Pos)
			}
		}
	}
}

// countsAll reports whether the limit simply counts its calls, per session, per user or per time
// span. The result is false for a limit with a key, a limit on a sum, and a limit refilled by
// calls.
func (s *Limit) countsAll() bool {
	return s.Per == nil && s.Of == nil && len(s.Key) == 0 && spans[s.Over].word != ""
}

// strongerRules holds the rules that can make a limit redundant, keyed by the name of the calls
// that they restrict.
type strongerRules struct {
	blocks map[string]*Block
	limits map[string][]*Limit // limits with the lowest count for their span
}

// findStrongerRules collects the rules that can make a limit redundant: blocks without "after", and
// limits that simply count their calls (see [Limit.countsAll]). Rules with "unless" are left out. A
// rule for a pattern, such as git_*, is listed under the pattern and under each limited name that
// matches it.
func (c *compiler) findStrongerRules() strongerRules {
	over := strongerRules{make(map[string]*Block), make(map[string][]*Limit)}
	var limited []string
	for _, s := range statementsOf[*Limit](c.statements) {
		for _, tool := range s.Tools {
			if !tool.Glob() {
				limited = append(limited, tool.Text)
			}
		}
	}
	words := vocabulary(list.Sorted(limited))
	about := func(names []Name, f func(key string)) {
		for _, n := range names {
			f(n.String())
			if n.Glob() {
				words.forEachMatch(n, func(text string) {
					if strings.Contains(n.Text, ".") || !strings.Contains(text, ".") { // a pattern without a dot does not match actions
						f(text)
					}
				})
			}
		}
	}
	for _, s := range statementsOf[*Block](c.statements) {
		if len(s.Unless) == 0 && len(s.After) == 0 {
			about(s.Tools, func(key string) { over.block(key, s) })
		}
	}
	for _, s := range statementsOf[*Limit](c.statements) {
		if len(s.Unless) == 0 && s.countsAll() {
			about(s.Tools, func(key string) { over.limit(key, s) })
		}
	}
	return over
}

// block records that s blocks calls with the given name. If an earlier rule blocks them, too, s
// replaces it only if the earlier rule is a shadow rule and s is enforced.
func (o *strongerRules) block(key string, s *Block) {
	if earlier := o.blocks[key]; earlier == nil || earlier.Shadow && !s.Shadow {
		o.blocks[key] = s
	}
}

func (o *strongerRules) limit(key string, s *Limit) {
	for i, l := range o.limits[key] {
		if l.Over == s.Over && l.PerUser == s.PerUser && l.Shadow == s.Shadow {
			if s.Count < l.Count {
				o.limits[key][i] = s
			}
			return
		}
	}
	o.limits[key] = append(o.limits[key], s)
}

// checkIdle warns about a limit that can never be reached because of other rules. It ignores limits
// on several tools.
func (c *compiler) checkIdle(s *Limit, over strongerRules) {
	if len(s.Tools) > 1 {
		return
	}
	for _, key := range s.Tools[0].enclosingNames() {
		if b := over.blocks[key]; b != nil && (s.Shadow || !b.Shadow) {
			c.warn(s, IdleLimit, "", "the limit is never reached: %s is blocked at %s", s.Tools[0], b.Pos)
			return
		}
		for _, l := range over.limits[key] {
			if l != s && s.Of == nil && l.implies(s) {
				c.warn(s, IdleLimit, "", "the limit is never reached: %q at %s is stricter", l, l.Pos)
				return
			}
		}
	}
}

// enclosingNames returns the names that every call to n has: n itself and, if n is an action, its
// tool.
func (n Name) enclosingNames() []string {
	keys := []string{n.String()}
	if n.Quoted || n.Glob() {
		return keys
	}
	if i := strings.IndexByte(n.Text, '.'); i > 0 {
		keys = append(keys, n.Text[:i])
	}
	return keys
}

// implies reports whether the limit s refuses every call that the other limit refuses, so that the
// other limit is redundant. The result is false for limits that differ only in their counts. The
// limit s must count all its calls; see [Limit.countsAll].
func (s *Limit) implies(other *Limit) bool {
	switch {
	case s.Shadow && !other.Shadow || s.Count > other.Count:
		return false
	case other.countsPerPrincipal() && !s.countsPerPrincipal():
		return false
	case s.subject() == other.subject(): // checkContrary warns about limits that differ only in their counts
		return false
	case s.interval() == 0:
		return true
	}
	return other.interval() > 0 && s.interval() >= other.interval()
}

// checkShadows warns about a shadow rule if the same rule is also enforced.
func (c *compiler) checkShadows() {
	enforced := make(map[string]Statement)
	for _, s := range c.statements {
		enforced[s.String()] = s
	}
	for _, s := range c.statements {
		text, shadow := strings.CutPrefix(s.String(), "shadow ")
		if twin := enforced[text]; shadow && twin != nil {
			c.warn(s, ShadowTwin, "", "the rule is already enforced at %s", twin.Position())
		}
	}
}
