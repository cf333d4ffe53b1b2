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
	source Source
	files  []*rules.File
	result *Result
	labels *gate.Labels // labels given by the maps of rules

	netMaps map[string][]gate.Map // maps of the hand-written nets, by name of the net
	invalid bool                  // there are errors, apart from claims

	// Created when a net needs them.
	cel     *cel.Compiler
	calls   *cel.Reader
	scripts *shell.Reader
}

func (b *builder) errors() diag.List { return b.result.Problems.Of(diag.Error) }

func (b *builder) add(p diag.Problem) { b.result.Problems = append(b.result.Problems, p) }

// atName records a problem of a name in rules.
func (b *builder) atName(n rules.Name, p diag.Problem) {
	p.Excerpt = n.Excerpt()
	b.add(p)
}

// inNet records a problem of a net.
func (b *builder) inNet(n *config.Net, p diag.Problem) {
	p.Net = n.Name
	p.Excerpt = cmp.Or(p.Excerpt, n.Excerpt(p.Line, p.Column))
	b.add(p)
}

// at returns the first known position.
func at(places ...config.Position) gate.Position { return position(cmp.Or(places...)) }

// places returns a function that returns the position of a name in a list of a net or a transition;
// of is the Of method of the net or transition.
func places(of func(key, text string) config.Position, key string, otherwise config.Position) func(text string) gate.Position {
	return func(text string) gate.Position { return at(of(key, text), otherwise) }
}
