package rules

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
)

// A compiler collects the statements of all files, and the nets, errors and warnings that result
// from them.
type compiler struct {
	report
	statements []Statement // statements in all files, without duplicates
	maps       []*Map      // map statements, split by tool
	labels     *labels     // names that map statements give to calls
	netNames   map[string]int
	readers    readers
	out        *Compiled
}

// A report collects the errors and warnings about statements.
type report struct {
	files    []*File
	fileOf   map[Statement]*File
	failed   map[Statement]*Error // errors found while compiling, keyed by statement
	warnings []Warning            // warnings, in the order they were found
}

func newCompiler(files []*File) *compiler {
	c := &compiler{
		report:   report{files: files, fileOf: make(map[Statement]*File), failed: make(map[Statement]*Error)},
		netNames: make(map[string]int),
		out:      &Compiled{Labels: &gate.Labels{}},
	}
	first := make(map[string]Statement)
	for _, f := range files {
		for _, s := range f.Statements {
			c.fileOf[s] = f
			text := s.String()
			if earlier := first[text]; earlier != nil {
				if inSameFile(s, earlier) {
					c.warn(s, Repeated, "", "the statement at %[2]s already says %[1]q", text, earlier.Position())
				}
				continue
			}
			first[text] = s
			c.statements = append(c.statements, s)
		}
	}
	c.maps = list.FlatMap(statementsOf[*Map](c.statements), (*Map).split)
	c.labels = newLabels(c.maps)
	return c
}

// Compiled is the result of [Compile]. A caller passes only the nets to [gate.NewPolicy], because
// each net contains a pointer to Labels.
type Compiled struct {
	Nets     []gate.Net   // nets, in statement order
	Labels   *gate.Labels // names that map statements give to calls, and success conditions; never nil
	Claims   []*Prove     // claims about the policy that contains the nets
	Warnings []Warning    // warnings in file and line order

	verified []Verification // verification results, in the same order as Nets
}

// A Verification describes the reachable states of a net.
type Verification struct {
	Name      string
	States    int
	Deadlocks int      // number of states without an enabled transition, for example because a limit is used up
	Dead      []string // transitions that never fire, for example the one for a blocked call
}

// inSameFile reports whether both statements are in the same file. In different files, a repetition
// is harmless and often intended, for example in the files that init writes for two agents.
func inSameFile(s, t Statement) bool { return s.Position().File == t.Position().File }

// warn adds a warning about a whole statement.
func (r *report) warn(s Statement, code Code, hint, format string, args ...any) {
	line := r.fileOf[s].source[s]
	r.warnAt(s.Position(), line.span(line.skip(0), line.off), code, hint, format, args...)
}

// warnName adds a warning about a name in a statement.
func (r *report) warnName(n Name, code Code, hint, format string, args ...any) {
	r.warnAt(n.Pos, n.span, code, hint, format, args...)
}

func (r *report) warnAt(pos gate.Position, at span, code Code, hint, format string, args ...any) {
	r.warnings = append(r.warnings, Warning{Pos: pos, Code: code, Msg: fmt.Sprintf(format, args...), Hint: hint, span: at})
}

// failName rejects a statement because of a name in it.
func (r *report) failName(s Statement, n Name, code Code, hint, format string, args ...any) {
	r.fail(s, &Error{Pos: n.Pos, Code: code, Msg: fmt.Sprintf(format, args...), Hint: hint, span: n.span})
}

// fail rejects a statement. Only the first error of a statement counts.
func (r *report) fail(s Statement, e *Error) {
	if r.failed[s] == nil {
		r.failed[s] = e
	}
}

// errors returns all errors in the files, in order. There is at most one error per line, because a
// line with a syntax error is not compiled.
func (r *report) errors() ErrorList {
	var all ErrorList
	for _, f := range r.files {
		errs := slices.Clone(f.errs)
		for _, s := range f.Statements {
			if e := r.failed[s]; e != nil {
				errs = append(errs, e)
			}
		}
		slices.SortStableFunc(errs, func(a, b *Error) int { return cmp.Compare(a.Pos.Line, b.Pos.Line) })
		all = append(all, errs...)
	}
	return all
}

// sortedWarnings returns the warnings, sorted by file and position.
func (r *report) sortedWarnings() []Warning {
	order := make(map[string]int, len(r.files))
	for i, f := range r.files {
		order[f.Name] = i
	}
	slices.SortStableFunc(r.warnings, func(a, b Warning) int {
		return cmp.Or(
			cmp.Compare(order[a.Pos.File], order[b.Pos.File]),
			cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Column, b.Pos.Column),
		)
	})
	return r.warnings
}
