package console

import (
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/text"
)

// A netsAddress holds the query parameters of a link to a net page.
type netsAddress struct {
	Net, Session, At, Value, Why string
}

// link returns the address of the net page as a path with a query.
func (p netsAddress) link() string {
	return addressOf("/nets", nil, "net", p.Net, "session", p.Session, "at", p.At, "value", p.Value, "why", p.Why)
}

// valueLabel returns a short label for a value of a net's key. Each value of the key selects one of
// the net's markings.
func valueLabel(v *gate.ValueState) string {
	parts := list.Map(v.Key, func(k gate.KeyValue) string { return k.Field + " " + k.Value })
	return text.Excerpt(strings.Join(parts, ", "), 60)
}
