package rules

import (
	"fmt"
	"regexp"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/cel"
)

// Success is "success A, B when "CEL"": a call of A or B has failed if its result does not meet the
// condition.
type Success struct {
	Pos       gate.Position
	Tools     []Name
	Condition Pattern // its Kind is [When]
}

// Position returns the start of the statement.
func (s *Success) Position() gate.Position { return s.Pos }

func (s *Success) names() []Name { return nil }

func (s *Success) String() string {
	return fmt.Sprintf("success %s %s", joinNames(s.Tools), s.Condition)
}

// success parses a condition on results.
func (p *parser) success(at token) Statement {
	s := &Success{Pos: p.line.position(at.off)}
	s.Tools = p.list("the tool is missing", "tool", successForm)
	s.Condition = p.whenOf(successForm)
	p.end()
	return s
}

// compile adds the condition to the labels, once for each tool.
func (s *Success) compile(c *compiler) {
	for _, tool := range s.Tools {
		if maps := c.labels.maps[tool.Text]; maps != nil && !tool.Quoted {
			c.failName(s, tool, BadOperand, "name the tool: "+maps[0].tool().String(), "%s is a name of the map at %s, and a condition is about a tool", tool, maps[0].Pos)
		}
	}
	if c.readers.results == nil {
		c.readers.results = cel.NewResults()
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

// fieldOfResult matches a field of a result without a comparison.
var fieldOfResult = regexp.MustCompile(`^result(\.\w+|\[[\w']+\])+$`)

// warnUntyped warns of a condition without a comparison, which never holds for a number or a
// string.
func (s *Success) warnUntyped(c *compiler) {
	p, hint := s.Condition, "write a comparison, such as result.exitCode == 0"
	if fieldOfResult.MatchString(p.Text) {
		hint = fmt.Sprintf("write: %s == 0, or for true and false: %s == true", p.Text, p.Text)
	}
	c.warnAt(p.Pos, p.line.span(p.written.off, p.written.end), NoComparison, hint, "the condition has no comparison: it holds only for true, and a number or a text is a failure")
}
