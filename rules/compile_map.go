package rules

import (
	"fmt"
	"regexp"

	"github.com/petrigate/petrigate/gate"
)

// gateMaps converts a map statement to [gate.Map] values, one for each tool and each file pattern.
// If the statement has an error, gateMaps reports it and returns no values.
func (c *compiler) gateMaps(m *Map) (all []gate.Map) {
	out := []gate.Map{{Field: m.Field, As: m.As.Text, Source: m.Pattern.String(), Rule: m.Pos}}
	var bad *Error
	switch m.Pattern.Kind {
	case Runs:
		bad = c.readers.compileRuns(&out[0], m.Pattern)
	case Reads, Writes:
		out, bad = c.readers.compileFiles(out[0], m.Pattern)
	case When:
		bad = c.readers.compileWhen(&out[0], m.Pattern)
	default:
		out[0].Match = m.Pattern.match
	}
	if bad != nil {
		c.fail(m, bad)
		return nil
	}
	for _, tool := range m.Tools {
		for _, one := range out {
			one.Tool, one.Glob = tool.Text, tool.Glob()
			all = append(all, one)
		}
	}
	return all
}

// convertKey converts the fields of a key to [gate.Field] values. The first result contains the
// fields of the calls that unlock other calls or refill a limit. The second result contains the
// fields of the calls that the rule restricts.
func (c *compiler) convertKey(s Statement, key []KeyField) (earn, restricted []gate.Field) {
	for _, k := range key {
		earn = append(earn, c.convertField(s, k.Other))
		restricted = append(restricted, c.convertField(s, k.Field))
	}
	return earn, restricted
}

// likeField matches text that looks like a field name rather than an expression.
var likeField = regexp.MustCompile(`^(\$\.)?[\pL_-][\pL\pN_.*\[\]-]*$`)

// convertField converts a field to a [gate.Field]. It rejects s if the field's expression is
// invalid.
func (c *compiler) convertField(s Statement, f Field) gate.Field {
	if !f.Expression {
		return gate.Field{Path: f.Text, Result: f.Result, Source: f.String()}
	}
	number, err := c.readers.calls.ValueExpr(f.Text)
	if err != nil {
		bad := badExpression(f.line, f.at, err)
		if likeField.MatchString(f.Text) {
			bad.Hint = "write the field without quotes: " + f.Text
		}
		c.fail(s, bad)
	}
	return gate.Field{Reader: c.readers.calls, Number: number, Source: f.String()}
}

// compile adds the success condition to c.out.Labels, once for each tool.
func (s *Success) compile(c *compiler) {
	for _, tool := range s.Tools {
		if maps := c.labels.maps[tool.Text]; maps != nil && !tool.Quoted {
			c.failName(s, tool, BadOperand, "name the tool: "+maps[0].tool().String(), "%s is a name that the map at %s defines; a condition needs a tool", tool, maps[0].Pos)
		}
	}
	number, err := c.readers.results.Condition(s.Condition.Text)
	if err != nil {
		c.fail(s, badExpression(s.Condition.line, s.Condition.argument, err))
		return
	}
	if c.readers.results.Untyped(number) {
		s.warnUntyped(c)
	}
	for _, tool := range s.Tools {
		c.out.Labels.Successes = append(c.out.Labels.Successes, gate.Condition{
			Tool: tool.Text, Glob: tool.Glob(), Source: s.Condition.Text, Rule: s.Pos, Judge: c.readers.results, Number: number,
		})
	}
}

// fieldOfResult matches an expression that is merely a field of the result, without a comparison.
var fieldOfResult = regexp.MustCompile(`^result(\.\w+|\[[\w']+\])+$`)

// warnUntyped warns about a condition without a comparison. Such a condition never holds if its
// value is a number or a string.
func (s *Success) warnUntyped(c *compiler) {
	p, hint := s.Condition, "write a comparison, such as result.exitCode == 0"
	if fieldOfResult.MatchString(p.Text) {
		hint = fmt.Sprintf("write: %s == 0, or for true and false: %s == true", p.Text, p.Text)
	}
	c.warnAt(p.Pos, p.line.span(p.written.off, p.written.end), NoComparison, hint, "the condition has no comparison: only true counts as success; any number or text counts as failure")
}
