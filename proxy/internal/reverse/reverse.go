// Package reverse forwards the requests of servers to clients (sampling/createMessage,
// elicitation/create and roots/list), and the answers back.
package reverse

import (
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/tasks"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A Reverse forwards the requests of servers to clients, and the answers back to the servers.
type Reverse struct {
	Life     *lifetime.Lifetime
	Sessions *session.Sessions
	Tasks    *tasks.Tasks

	URLElicitations pool.ByServer[URLElicitations]
}

// ElicitationComplete forwards notifications/elicitation/complete to the client that received the
// elicitation.
func (p *Reverse) ElicitationComplete(u *pool.Server, params []byte) {
	c := p.URLElicitations.At(u).find(spec.Member(params, "elicitationId"))
	if c != nil && c.Out != nil && p.Sessions.Has(c) {
		c.Out.Send(wire.AppendNotification(nil, spec.ElicitationComplete, params))
	}
}
