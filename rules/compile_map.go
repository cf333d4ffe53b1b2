package rules

import (
	"errors"
	"regexp"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/cel"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/shell"
)

// readers are the script reader and the expression readers of a compilation. Each is created when a
// statement first needs it.
type readers struct {
	options shell.Options
	scripts *shell.Reader
	calls   *cel.Reader
	results *cel.Results
}

// gateMaps converts m to maps of the gate, one for each tool and each pattern of files. It returns
// none if m was refused.
func (c *compiler) gateMaps(m *Map) (all []gate.Map) {
	out := []gate.Map{{Field: m.Field, As: m.As.Text, Source: m.Pattern.String(), Rule: m.Pos}}
	var bad *Error
	switch m.Pattern.Kind {
	case Runs:
		bad = c.readers.runs(&out[0], m.Pattern)
	case Reads, Writes:
		out, bad = c.readers.files(out[0], m.Pattern)
	case When:
		bad = c.readers.when(&out[0], m.Pattern)
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

// script returns the script reader.
func (r *readers) script() *shell.Reader {
	if r.scripts == nil {
		r.scripts = r.options.NewReader()
	}
	return r.scripts
}

// runs compiles a map that looks for a command in a script.
func (r *readers) runs(out *gate.Map, p Pattern) *Error {
	number, err := r.script().Command(p.Words, p.Exactly)
	if err != nil {
		return p.line.errorAt(BadCommand, p.argument, "", "%v", err)
	}
	out.Reader, out.Pattern = r.scripts, number
	return nil
}

// files compiles a map that looks for files in a script, to one map for each pattern.
func (r *readers) files(out gate.Map, p Pattern) (all []gate.Map, bad *Error) {
	access := map[PatternKind]shell.Access{Reads: shell.Reads, Writes: shell.Writes}[p.Kind]
	for _, glob := range p.Words {
		number, err := r.script().Files(access, glob)
		if err != nil {
			return nil, p.line.errorAt(BadCommand, p.argument, "", "%v", err)
		}
		out.Reader, out.Pattern, out.Source = r.scripts, number, patternWords[p.Kind]+" "+joinWords([]string{glob})
		all = append(all, out)
	}
	return all, nil
}

// when compiles a map with an expression.
func (r *readers) when(out *gate.Map, p Pattern) *Error {
	number, err := r.expressions().Expr(p.Text)
	if err != nil {
		return badExpression(p.line, p.argument, err)
	}
	out.Reader, out.Pattern = r.calls, number
	return nil
}

// expressions returns the reader for expressions about calls.
func (r *readers) expressions() *cel.Reader {
	if r.calls == nil {
		r.calls = cel.NewReader()
	}
	return r.calls
}

// badExpression returns an error at the first problem in a quoted expression.
func badExpression(line *scanner, at token, err error) *Error {
	msg, hint := err.Error(), ""
	var bad diag.Problem
	if errors.As(err, &bad) {
		at.off = stringOffset(line.text, at.off, bad.Offset)
		at.end, msg, hint = at.off, bad.Msg, bad.Hint
	}
	return line.errorAt(BadExpression, at, hint, "%s", msg)
}

// keys converts a key to fields of the gate: those of the calls that earn, and those of the calls
// that the rule restricts.
func (c *compiler) keys(s Statement, key []KeyField) (earn, restricted []gate.Field) {
	for _, k := range key {
		earn = append(earn, c.field(s, k.Other))
		restricted = append(restricted, c.field(s, k.Field))
	}
	return earn, restricted
}

// likeField matches text that looks like a field rather than an expression.
var likeField = regexp.MustCompile(`^(\$\.)?[\pL_-][\pL\pN_.*\[\]-]*$`)

// field converts a field to one of the gate.
func (c *compiler) field(s Statement, f Field) gate.Field {
	if !f.Expression {
		return gate.Field{Path: f.Text, Result: f.Result, Source: f.String()}
	}
	number, err := c.readers.expressions().ValueExpr(f.Text)
	if err != nil {
		bad := badExpression(f.line, f.at, err)
		if likeField.MatchString(f.Text) {
			bad.Hint = "a field has no quotes; write: " + f.Text
		}
		c.fail(s, bad)
	}
	return gate.Field{Reader: c.readers.calls, Number: number, Source: f.String()}
}
