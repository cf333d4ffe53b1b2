// Package router passes messages to the packages that handle them. The file client.go lists every
// method that a client can send, and server.go every notification and request that a server can
// send.
package router

import (
	"github.com/mark3labs/mcp-go/server"

	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/advertise"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/pipeline"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/relay"
	"github.com/petrigate/petrigate/proxy/internal/reverse"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/tasks"
)

// A Router passes each message from a client or a server to its handler. Its fields must be set
// before use.
type Router struct {
	Life       *lifetime.Lifetime
	Sessions   *session.Sessions
	Admission  *admission.Admission
	Pool       *pool.Pool
	Advertiser *advertise.Advertiser // nil if all clients see the same tools
	Tasks      *tasks.Tasks
	Reverse    *reverse.Reverse
	Relay      *relay.Relay
	Pipeline   *pipeline.Pipeline
	Server     *server.MCPServer // answers initialize, server/discover and ping
}
