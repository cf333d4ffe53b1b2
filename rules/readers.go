package rules

import (
	"errors"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/cel"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/shell"
)

// readers holds the objects that match scripts and evaluate expressions for the compiled nets.
// Compilation adds each script pattern and each expression to one of them.
type readers struct {
	scripts *shell.Reader
	calls   *cel.Reader // evaluates expressions about calls
	results *cel.Results
}

func newReaders(o shell.Options) readers {
	return readers{o.NewReader(), cel.NewReader(), cel.NewResults()}
}

// compileRuns compiles a map statement that looks for a command in a script.
func (r *readers) compileRuns(out *gate.Map, p Pattern) *Error {
	number, err := r.scripts.Command(p.Words, p.Exactly)
	if err != nil {
		return p.line.errorAt(BadCommand, p.argument, "", "%v", err)
	}
	out.Reader, out.Pattern = r.scripts, number
	return nil
}

// compileFiles compiles a map statement that looks for files in a script. It returns a separate
// [gate.Map] for each file glob.
func (r *readers) compileFiles(out gate.Map, p Pattern) (all []gate.Map, bad *Error) {
	access := map[PatternKind]shell.Access{Reads: shell.Reads, Writes: shell.Writes}[p.Kind]
	for _, glob := range p.Words {
		number, err := r.scripts.Files(access, glob)
		if err != nil {
			return nil, p.line.errorAt(BadCommand, p.argument, "", "%v", err)
		}
		out.Reader, out.Pattern, out.Source = r.scripts, number, patternWords[p.Kind]+" "+joinWords([]string{glob})
		all = append(all, out)
	}
	return all, nil
}

// compileWhen compiles a map statement whose pattern is an expression.
func (r *readers) compileWhen(out *gate.Map, p Pattern) *Error {
	number, err := r.calls.Expr(p.Text)
	if err != nil {
		return badExpression(p.line, p.argument, err)
	}
	out.Reader, out.Pattern = r.calls, number
	return nil
}

// badExpression returns an error at the first problem in a quoted expression.
func badExpression(line *scanner, at token, err error) *Error {
	msg, hint := err.Error(), ""
	if bad, ok := errors.AsType[diag.Problem](err); ok {
		at.off = stringOffset(line.text, at.off, bad.Offset)
		at.end, msg, hint = at.off, bad.Msg, bad.Hint
	}
	return line.errorAt(BadExpression, at, hint, "%s", msg)
}
