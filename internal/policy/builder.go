package policy

import (
	"cmp"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/cel"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/shell"
	"github.com/petrigate/petrigate/rules"
)

type builder struct {
	netReader
	source Source
	files  []*rules.File
	labels *gate.Labels // labels given by the maps of rules

	netMaps map[string][]gate.Map // maps of the hand-written nets, by name of the net
	invalid bool                  // there are errors, apart from claims

	scripts *shell.Reader // created when a net needs it
}

// A report records the problems of a policy.
type report struct {
	result *Result
}

// A netReader compiles the expressions of hand-written nets, and checks the nets.
type netReader struct {
	report

	// Created when a net needs them.
	cel   *cel.Compiler
	calls *cel.Reader
}

func (r *report) errors() diag.List { return r.result.Problems.Of(diag.Error) }

func (r *report) add(p diag.Problem) { r.result.Problems = append(r.result.Problems, p) }

// atName records a problem of a name in rules.
func (r *report) atName(n rules.Name, p diag.Problem) {
	p.Excerpt = n.Excerpt()
	r.add(p)
}

// inNet records a problem of a net.
func (r *report) inNet(n *config.Net, p diag.Problem) {
	p.Net = n.Name
	p.Excerpt = cmp.Or(p.Excerpt, n.Excerpt(p.Line, p.Column))
	r.add(p)
}

// at returns the first known position.
func at(places ...config.Position) gate.Position { return position(cmp.Or(places...)) }

// places returns a function that returns the position of a name in a list of a net or a transition;
// of is the Of method of the net or transition.
func places(of func(key, text string) config.Position, key string, otherwise config.Position) func(text string) gate.Position {
	return func(text string) gate.Position { return at(of(key, text), otherwise) }
}
