package policy

import (
	"fmt"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/cel"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/list"
)

// key converts the key of a net, such as the names of arguments, to [gate.Field] values. The net
// has a separate marking for each value of its key.
func (r *netReader) key(n *config.Net, key []config.KeyField) []gate.Field {
	return list.Map(key, func(f config.KeyField) gate.Field { return r.field(n, f) })
}

// field converts f to a [gate.Field]. If f is invalid, it reports the problem and returns a valid
// placeholder, to prevent further reports.
func (r *netReader) field(n *config.Net, f config.KeyField) gate.Field {
	if f.Expression.Text != "" {
		number, err := r.expressions().ValueExpr(f.Expression.Text)
		if err != nil {
			r.inExpression(n, f.Expression, err)
			return gate.Field{Path: f.Expression.Text}
		}
		return gate.Field{Reader: r.calls, Number: number, Source: f.String()}
	}
	if strings.HasPrefix(f.Path, "$.") || strings.HasPrefix(f.Path, "$[") {
		if _, err := toolnet.ParsePath(f.Path); err != nil {
			r.inNet(n, problem(diag.Error, InvalidNet, position(f.Position), fmt.Sprintf("the path %q: %v", f.Path, err), ""))
			return gate.Field{Path: "field"}
		}
	}
	return gate.Field{Path: f.Path, Result: f.Result, Source: f.String()}
}

// expressions returns the reader for all expressions that nets evaluate on calls, creating it on
// first use.
func (r *netReader) expressions() *cel.Reader {
	if r.calls == nil {
		r.calls = r.compiler().NewReader()
	}
	return r.calls
}
