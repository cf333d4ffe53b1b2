package check

import (
	"fmt"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/internal/text"
)

// whyDefault is the reason why a name that no net mentions can never be called.
const whyDefault = "the default refuses calls that no rule and no net names"

// citedAll joins the names of the nets, each with its position.
func citedAll(nets []verify.Net) string { return text.And(list.Map(nets, citedNet)) }

// citedNet returns the name of a net, with its position if known.
func citedNet(n verify.Net) string { return cited(n.Name, n.Rule) }

// cited returns the name of a net or transition, with its position if known.
func cited(name string, at gate.Position) string {
	if at.Line == 0 {
		return name
	}
	return fmt.Sprintf("%s (%s:%d)", name, at.File, at.Line)
}

func first(nets []verify.Net) diag.Position {
	if len(nets) == 0 {
		return diag.Position{}
	}
	return diag.Position(nets[0].Rule)
}

func netNames(nets []verify.Net) []string {
	return list.Map(nets, func(n verify.Net) string { return n.Name })
}
