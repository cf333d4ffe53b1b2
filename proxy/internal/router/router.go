// Package router hands each message to the room that serves it. The file client.go has
// every method that a client may send, and server.go every notification and request that
// a server may send.
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

// A Router hands each message of a client and of a server to the room that serves it.
type Router struct {
	Life       *lifetime.Lifetime
	Sessions   *session.Sessions
	Admission  *admission.Admission
	Pool       *pool.Pool
	Advertiser *advertise.Advertiser // nil: every client is shown the same tools
	Tasks      *tasks.Tasks
	Reverse    *reverse.Reverse
	Relay      *relay.Relay
	Pipeline   *pipeline.Pipeline
	Server     *server.MCPServer // answers what is the same for every server: handshakes, ping
}
