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
	labels *gate.Labels // compiled map statements and success statements of the rules

	netMaps map[string][]gate.Map // map entries of the hand-written nets, keyed by net name
	invalid bool                  // whether errors were found, not counting errors in claims

	scripts *shell.Reader // created when a net first needs it
}

// A report collects the problems found in a policy.
type report struct {
	result *Result
}

// A netReader compiles the expressions of hand-written nets and checks the nets.
type netReader struct {
	report

	// The following fields are created when a net first needs them.
	cel   *cel.Compiler
	calls *cel.Reader
}

// statements yields all statements in the rules, in order.
func (b *builder) statements(yield func(rules.Statement) bool) {
	for _, f := range b.files {
		for _, s := range f.Statements {
			if !yield(s) {
				return
			}
		}
	}
}

func (r *report) errors() diag.List { return r.result.Problems.Of(diag.Error) }

func (r *report) add(p diag.Problem) { r.result.Problems = append(r.result.Problems, p) }

// atName records a problem with a name in the rules and adds an excerpt that shows the name.
func (r *report) atName(n rules.Name, p diag.Problem) {
	p.Excerpt = n.Excerpt()
	r.add(p)
}

// inNet records a problem with a net.
func (r *report) inNet(n *config.Net, p diag.Problem) {
	p.Net = n.Name
	p.Excerpt = cmp.Or(p.Excerpt, n.Excerpt(p.Line, p.Column))
	r.add(p)
}

// at returns the first position that is known.
func at(places ...config.Position) gate.Position { return position(cmp.Or(places...)) }

// places returns a function that returns the position of a name in a list of the configuration. The
// key identifies the list. If the position is unknown, the function returns the fallback position.
func places(locate func(key, text string) config.Position, key string, fallback config.Position) func(text string) gate.Position {
	return func(text string) gate.Position { return at(locate(key, text), fallback) }
}
