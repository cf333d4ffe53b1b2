package rules

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/gate"
)

// A compiler is the state of one compilation.
type compiler struct {
	files      []*File
	statements []Statement // statements of all files without duplicates
	maps       []*Map      // maps of the statements, one for each tool
	labels     *labels     // labels that the maps give
	netNames   map[string]int
	failed     map[Statement]*Error // errors found while compiling, by statement
	fileOf     map[Statement]*File
	readers    readers
	out        *Compiled
}

func newCompiler(files []*File) *compiler {
	c := &compiler{
		files:    files,
		netNames: make(map[string]int),
		failed:   make(map[Statement]*Error),
		fileOf:   make(map[Statement]*File),
		out:      &Compiled{Labels: &gate.Labels{}},
	}
	first := make(map[string]Statement)
	for _, f := range files {
		for _, s := range f.Statements {
			c.fileOf[s] = f
			text := s.String()
			if earlier := first[text]; earlier != nil {
				c.warn(s, Repeated, "", "the statement at %[2]s already says %[1]q", text, earlier.Position())
				continue
			}
			first[text] = s
			c.statements = append(c.statements, s)
		}
	}
	for _, m := range statementsOf[*Map](c.statements) {
		c.maps = append(c.maps, m.each()...)
	}
	c.labels = newLabels(c.maps)
	return c
}

// Compiled is the result of [Compile]. Each net contains the labels of the maps, so the nets alone
// make the complete policy for [gate.NewPolicy].
type Compiled struct {
	Nets     []gate.Net   // nets in the order of the statements
	Labels   *gate.Labels // labels of the nets; if there are maps but no rules, only this field has them
	Claims   []*Prove     // claims about the policy that contains the nets
	Warnings []Warning    // in the order of files and lines

	verified []Verification // verifications of Nets
}

// A Verification counts the reachable states of a net.
type Verification struct {
	Name      string
	States    int
	Deadlocks int      // states in which no transition can fire, as when a limit is used up
	Dead      []string // transitions that never fire, such as a blocked call
}

// warn adds a warning about a whole statement.
func (c *compiler) warn(s Statement, code Code, hint, format string, args ...any) {
	line := c.fileOf[s].source[s]
	c.warnAt(s.Position(), line.span(line.skip(0), line.off), code, hint, format, args...)
}

// warnName adds a warning about a name in a statement.
func (c *compiler) warnName(n Name, code Code, hint, format string, args ...any) {
	c.warnAt(n.Pos, n.span, code, hint, format, args...)
}

func (c *compiler) warnAt(pos gate.Position, at span, code Code, hint, format string, args ...any) {
	c.out.Warnings = append(c.out.Warnings, Warning{Pos: pos, Code: code, Msg: fmt.Sprintf(format, args...), Hint: hint, span: at})
}

// failName refuses a statement because of a name in it.
func (c *compiler) failName(s Statement, n Name, code Code, hint, format string, args ...any) {
	c.fail(s, &Error{Pos: n.Pos, Code: code, Msg: fmt.Sprintf(format, args...), Hint: hint, span: n.span})
}

// fail refuses a statement. Only the first error counts.
func (c *compiler) fail(s Statement, e *Error) {
	if c.failed[s] == nil {
		c.failed[s] = e
	}
}

// errors returns all errors of the files, in order. There is at most one for each line, because a
// line with a syntax error is not compiled.
func (c *compiler) errors() ErrorList {
	var all ErrorList
	for _, f := range c.files {
		errs := slices.Clone(f.errs)
		for _, s := range f.Statements {
			if e := c.failed[s]; e != nil {
				errs = append(errs, e)
			}
		}
		slices.SortStableFunc(errs, func(a, b *Error) int { return cmp.Compare(a.Pos.Line, b.Pos.Line) })
		all = append(all, errs...)
	}
	return all
}

// inOrder sorts warnings by file and position.
func (c *compiler) inOrder(warnings []Warning) []Warning {
	order := make(map[string]int, len(c.files))
	for i, f := range c.files {
		order[f.Name] = i
	}
	slices.SortStableFunc(warnings, func(a, b Warning) int {
		return cmp.Or(
			cmp.Compare(order[a.Pos.File], order[b.Pos.File]),
			cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Column, b.Pos.Column),
		)
	})
	return warnings
}
