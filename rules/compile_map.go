package rules

import (
	"errors"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy/cel"
	"github.com/petrigate/petrigate/internal/policy/shell"
)

// readers are the script reader and the expression reader of all maps of a
// compilation, created for the first map that needs them.
type readers struct {
	scripts *shell.Reader
	calls   *cel.Reader
}

// gateMap converts m for the gate, or returns false if it was refused.
func (c *compiler) gateMap(m *Map) (gate.Map, bool) {
	out := gate.Map{Tool: m.Tool.Text, Field: m.Field, As: m.As.Text, Source: m.Pattern.String(), Rule: m.Pos}
	var bad *Error
	switch m.Pattern.Kind {
	case Runs:
		bad = c.readers.runs(&out, m.Pattern)
	case When:
		bad = c.readers.when(&out, m.Pattern)
	default:
		out.Match = m.Pattern.match
	}
	if bad != nil {
		c.fail(m, bad)
	}
	return out, bad == nil
}

// runs compiles a map by the commands of a script.
func (r *readers) runs(out *gate.Map, p Pattern) *Error {
	if r.scripts == nil {
		r.scripts = shell.NewReader()
	}
	number, err := r.scripts.Command(p.Words)
	if err != nil {
		return p.line.errorAt(BadCommand, p.argument, "", "%v", err)
	}
	out.Reader, out.Pattern = r.scripts, number
	return nil
}

// when compiles a map by an expression.
func (r *readers) when(out *gate.Map, p Pattern) *Error {
	if r.calls == nil {
		r.calls = cel.NewReader()
	}
	number, err := r.calls.Expr(p.Text)
	if err != nil {
		return p.badExpression(err)
	}
	out.Reader, out.Pattern = r.calls, number
	return nil
}

// badExpression returns an error at the first mistake of the expression.
func (p *Pattern) badExpression(err error) *Error {
	at, msg, hint := p.argument, err.Error(), ""
	var bad diag.Problem
	if errors.As(err, &bad) {
		at.off = stringOffset(p.line.text, at.off, bad.Offset)
		at.end, msg, hint = at.off, bad.Msg, bad.Hint
	}
	return p.line.errorAt(BadExpression, at, hint, "%s", msg)
}
