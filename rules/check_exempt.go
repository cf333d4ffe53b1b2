package rules

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// identifier matches the keys that an expression can read as args.KEY.
var identifier = regexp.MustCompile(`^[A-Za-z_]\w*$`)

// asExpression returns the text of a map statement that gives the same name, but with an expression
// in place of the pattern. Hints suggest such a statement, because a name given by an expression
// can exempt calls from rules. If the field or the pattern cannot be converted, asExpression
// returns a template with placeholders.
func (m *Map) asExpression() string {
	pattern := m.Pattern.Text
	if !identifier.MatchString(m.Field) || strings.Contains(pattern, "'") {
		return `map TOOL when "args.FIELD == 'VALUE'" as NAME`
	}
	test := "args." + m.Field
	switch {
	case m.Pattern.Kind == Word:
		test += " == r'" + pattern + "'"
	case m.Pattern.Fold:
		test += ".matches(r'(?i)" + pattern + "')"
	default:
		test += ".matches(r'" + pattern + "')"
	}
	return fmt.Sprintf("map %s when %s as %s", joinNames(m.statement().Tools), quote(test), m.As)
}

// checkUnless checks the names after "unless" in a rule about calls to tools. It warns if a name
// exempts every call to one of these tools.
func (c *compiler) checkUnless(s Statement, r *Rule, tools []Name) {
	c.checkCertain(s, r.Unless)
	for _, n := range r.Unless {
		for _, tool := range tools {
			// Skip names given by map statements, because they may be uncertain or equal to a
			// tool's name.
			if c.labels.maps[n.Text] == nil && c.labels.maps[tool.Text] == nil && (n.same(tool) || c.labels.covers(n, tool)) {
				c.warnName(n, AllExempt, "", "every call to %s is exempt, so the rule never applies", tool)
			}
		}
	}
}

// checkCertain checks the names in an allow statement or after "unless". It rejects a name if one
// of its map statements never gives the name with certainty. It ignores names with wildcards.
func (c *compiler) checkCertain(s Statement, names []Name) {
	for _, n := range names {
		maps := c.labels.maps[n.Text]
		if i := slices.IndexFunc(maps, func(m *Map) bool { return !m.exempts() }); i >= 0 && !n.Glob() {
			why, hint := maps[i].doubt()
			c.failName(s, n, WeakExemption, hint, "no call is certainly %s: the map at %s %s", n, maps[i].Pos, why)
		}
	}
}

// checkEvidence warns if a map statement gives the name n to calls without proof that they perform
// the named action. For example, a statement that looks for the word cp also matches "echo cp",
// which copies nothing. The warning includes the effect of such a call, for example "unlocks
// deploy".
func (c *compiler) checkEvidence(n Name, effect string) {
	m := c.labels.firstWeak(n)
	if m == nil {
		return
	}
	switch m.Pattern.Kind {
	case When:
		c.warnName(n, WeakEvidence, "prefer a separate tool", "any %s call for which %s is true %s", m.tool(), quote(m.Pattern.Text), effect)
	case Reads, Writes:
		c.warnName(n, WeakEvidence, "use runs, which looks for a command", "no %s call %s: a file that a script %s proves nothing", m.tool(), effect, patternWords[m.Pattern.Kind])
	case Runs:
		c.warnName(n, WeakEvidence, "a path with [*] proves nothing; name one value", "no %s call %s: its %s can be several values", m.tool(), effect, m.Field)
	default:
		c.warnName(n, WeakEvidence, "a text does not prove that a command ran; use runs, or a separate tool",
			"any %s call whose %s contains %s %s", m.tool(), m.Field, m.Pattern, effect)
	}
}

// doubt explains why the map statement never gives its name to a call with certainty. It also
// returns a hint. Both are for an error message.
func (m *Map) doubt() (why, hint string) {
	switch {
	case m.Pattern.Kind.readsScript() && m.Pattern.Kind != Runs:
		return "looks for files", "use runs, which looks for commands"
	case m.readsSeveral():
		return "reads several values", "name one of them in the path"
	case !m.isCommand():
		return "searches a text", "use an expression: " + m.asExpression()
	default:
		return "searches a text", "use runs, which reads the field as a script"
	}
}

// isCommand reports whether the field is likely to contain a command, judging by its name.
func (m *Map) isCommand() bool {
	key := m.Field[strings.LastIndexByte(m.Field, '.')+1:]
	return slices.Contains([]string{"command", "commands", "cmd", "script"}, strings.ToLower(key))
}
