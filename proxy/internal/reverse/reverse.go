// Package reverse passes the requests of servers to clients: sampling/createMessage,
// elicitation/create and roots/list, and the answers back.
package reverse

import (
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/tasks"
)

// Options are what Reverse uses of the rest of the proxy.
type Options struct {
	Life     *lifetime.Lifetime
	Sessions *session.Sessions
	Tasks    *tasks.Tasks
}

// Reverse passes the requests of servers to clients, and their answers back.
type Reverse struct {
	Options
	URLElicitations pool.ByServer[URLElicitations]
}

// New returns a Reverse that nothing has passed through.
func New(o Options) *Reverse { return &Reverse{Options: o} }
