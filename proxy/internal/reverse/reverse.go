// Package reverse forwards the requests of servers to clients (sampling/createMessage,
// elicitation/create and roots/list), and the answers back.
package reverse

import (
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/tasks"
)

// Reverse forwards the requests of servers to clients, and their answers back.
type Reverse struct {
	Life     *lifetime.Lifetime
	Sessions *session.Sessions
	Tasks    *tasks.Tasks

	URLElicitations pool.ByServer[URLElicitations]
}
