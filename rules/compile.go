package rules

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/shell"
)

// Compiled is the result of [Compile]. Each net contains the labels of the maps, so the nets alone
// make the complete policy for [gate.NewPolicy].
type Compiled struct {
	Nets     []gate.Net   // in the order of the statements
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

// Options are the options for scripts in maps.
type Options struct {
	Strict bool // treat a script that is not fully understood as able to run any command
	Pass   bool // do not give a name to a script that only may run the command
}

// Compile compiles files with default options, see [Options.Compile].
func Compile(files ...*File) (*Compiled, error) { return Options{}.Compile(files...) }

// Compile compiles files that apply together, in this order. Its error is an [ErrorList] with all
// errors of the files, including those of [Parse]; the Compiled then has the warnings and
// everything that could be compiled, and must not be enforced.
func (o Options) Compile(files ...*File) (*Compiled, error) {
	c := newCompiler(files)
	c.readers.options = shell.Options{Strict: o.Strict, Pass: o.Pass}
	for _, s := range c.statements {
		c.add(s)
	}
	c.check()
	c.out.Warnings = c.inOrder(c.out.Warnings)
	if errs := c.errors(); len(errs) > 0 {
		return c.out, errs
	}
	return c.out, nil
}

// Load reads, parses and compiles files of fsys together, in the given order. If the rules have
// errors, the error is an [ErrorList]; see [Compile].
func Load(fsys fs.FS, paths ...string) (*Compiled, error) {
	files := make([]*File, len(paths))
	for i, path := range paths {
		src, err := fs.ReadFile(fsys, path)
		if err != nil {
			return nil, fmt.Errorf("reading rules: %w", err)
		}
		files[i], _ = Parse(path, src) // its errors are reported by Compile
	}
	return Compile(files...)
}

// Verification returns the reachable states of each net, counted from its initial marking. The
// numbers follow from the shapes of the nets, without an exploration.
func (c *Compiled) Verification() []Verification { return slices.Clone(c.verified) }

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
				c.warn(s, Repeated, "", "%q is already at %s and counts once", text, earlier.Position())
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

// statementsOf returns the statements of one type.
func statementsOf[T Statement](all []Statement) (ts []T) {
	for _, s := range all {
		if t, ok := s.(T); ok {
			ts = append(ts, t)
		}
	}
	return ts
}

// add compiles one statement.
func (c *compiler) add(s Statement) {
	switch s := s.(type) {
	case *Require:
		for _, n := range c.requireNets(s) {
			c.net(n, Verification{States: 3})
		}
	case *Approve:
		for _, before := range s.Before {
			c.net(approveNet(s, before), afterStates(s.After, s.Until, Verification{States: 2}))
		}
	case *Block:
		for _, tool := range s.Tools {
			c.net(blockNet(s, tool), afterStates(s.After, s.Until, Verification{States: 2, Deadlocks: 1, Dead: []string{transitionName(tool)}}))
		}
	case *Limit:
		c.net(c.limitNet(s), s.states())
	case *Allow:
		for _, tool := range s.Tools {
			c.net(allowNet(s, tool), Verification{States: 2})
		}
	case *Map:
		c.out.Labels.Maps = append(c.out.Labels.Maps, c.gateMaps(s)...)
	case *Success:
		s.compile(c)
	case *Prove:
		c.out.Claims = append(c.out.Claims, s)
	}
}

// afterStates returns the state count of a rule that applies between two calls. always is the count
// for a rule that applies from the start.
func afterStates(after, until []Name, always Verification) Verification {
	switch {
	case len(after) == 0:
		return always
	case len(until) == 0 && always.Deadlocks > 0:
		return Verification{States: 3, Deadlocks: 1}
	}
	return Verification{States: 3}
}

// net appends a net. Different statements can have the same net name, such as "require a-before-b
// before c" and "require a before b-before-c"; the later ones get a number.
func (c *compiler) net(n gate.Net, v Verification) {
	c.netNames[n.Name]++
	if k := c.netNames[n.Name]; k > 1 {
		n.Name = fmt.Sprintf("%s#%d", n.Name, k)
	}
	n.Labels, v.Name = c.out.Labels, n.Name
	c.out.Nets = append(c.out.Nets, n)
	c.out.verified = append(c.out.verified, v)
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
