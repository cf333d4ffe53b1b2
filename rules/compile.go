package rules

import (
	"fmt"
	"io/fs"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/shell"
)

// Options determine how map statements handle scripts that are not fully understood. The zero value
// is ready to use.
type Options struct {
	Strict bool // whether to assume that a script that is not fully understood can run any command
	Pass   bool // whether to ignore uncertain matches of map statements with "runs", "reads" or "writes"
}

// Compile compiles files with default options; see [Options.Compile].
func Compile(files ...*File) (*Compiled, error) { return Options{}.Compile(files...) }

// Compile compiles files that apply together, in the given order. If there are errors, including
// those found by [Parse], it returns all of them as an [ErrorList]. The Compiled then contains the
// warnings and everything that could be compiled, and must not be enforced.
func (o Options) Compile(files ...*File) (*Compiled, error) {
	c := newCompiler(files)
	c.readers = newReaders(shell.Options{Strict: o.Strict, Pass: o.Pass})
	for _, s := range c.statements {
		c.add(s)
	}
	c.check()
	c.out.Warnings = c.sortedWarnings()
	if errs := c.errors(); len(errs) > 0 {
		return c.out, errs
	}
	return c.out, nil
}

// Load reads, parses and compiles the named files in fsys together, in the given order. If the
// rules have errors, the error is an [ErrorList]; see [Compile].
func Load(fsys fs.FS, paths ...string) (*Compiled, error) {
	files := make([]*File, len(paths))
	for i, path := range paths {
		src, err := fs.ReadFile(fsys, path)
		if err != nil {
			return nil, fmt.Errorf("reading rules: %w", err)
		}
		files[i], _ = Parse(path, src) // ignore the error, because Compile reports it
	}
	return Compile(files...)
}

// Verification describes the reachable states of each net, including their number. The results
// follow from the kind of statement, so no states are explored.
func (c *Compiled) Verification() []Verification { return slices.Clone(c.verified) }

// add compiles a statement and adds the result to the output.
func (c *compiler) add(s Statement) {
	switch s := s.(type) {
	case *Require:
		for _, n := range c.requireNets(s) {
			c.addNet(n, Verification{States: 3})
		}
	case *Approve:
		for _, before := range s.Before {
			c.addNet(approveNet(s, before), afterStates(s.After, s.Until, Verification{States: 2}))
		}
	case *Block:
		for _, tool := range s.Tools {
			c.addNet(blockNet(s, tool), afterStates(s.After, s.Until, Verification{States: 2, Deadlocks: 1, Dead: []string{transitionName(tool)}}))
		}
	case *Limit:
		c.addNet(c.limitNet(s), s.states())
	case *Allow:
		for _, tool := range s.Tools {
			c.addNet(allowNet(s, tool), Verification{States: 2})
		}
	case *Map:
		c.out.Labels.Maps = append(c.out.Labels.Maps, c.gateMaps(s)...)
	case *Success:
		s.compile(c)
	case *Prove:
		c.out.Claims = append(c.out.Claims, s)
	}
}

// afterStates returns the verification result for a rule that may have the clauses "after" and
// "until". The last argument is the result for the same rule without these clauses.
func afterStates(after, until []Name, always Verification) Verification {
	switch {
	case len(after) == 0:
		return always
	case len(until) == 0 && always.Deadlocks > 0:
		return Verification{States: 3, Deadlocks: 1}
	}
	return Verification{States: 3}
}

// addNet appends n to the output. Different statements may produce nets with the same name, such as
// "require a-before-b before c" and "require a before b-before-c"; the later nets get numbered
// names.
func (c *compiler) addNet(n gate.Net, v Verification) {
	c.netNames[n.Name]++
	if k := c.netNames[n.Name]; k > 1 {
		n.Name = fmt.Sprintf("%s#%d", n.Name, k)
	}
	n.Labels, v.Name = c.out.Labels, n.Name
	c.out.Nets = append(c.out.Nets, n)
	c.out.verified = append(c.out.verified, v)
}
