package pool

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/burst"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A Server is one connection to an MCP server: the connection that sessions share, or one dedicated
// to a session.
type Server struct {
	*upstream.Upstream
	Config  Upstream
	several bool // the configuration has several servers

	Burst     burst.Burst    // replies that were read together
	Listing   relisting      // state of tools/list
	InFlight  queue          // calls that were sent and are not answered
	Abandoned abandonedCalls // cancelled calls that may still occupy the server

	// Only for a shared connection.
	placement placement
	Calls     session.Quota // calls in flight on all connections to the server, if limits.inFlight is set

	// Only for a dedicated connection.
	shared  *Server          // shared connection; nil: this is the shared one
	Session *session.Session // session served by this connection
	closed  chan struct{}    // closed when the connection has ended; nil for a shared connection
	used    atomic.Int64     // Unix nanoseconds of the last request

	once    sync.Once
	started chan struct{} // closed when the tools were first listed, or the server is known to be down
}

// NewServer returns a server without a connection. several reports that the configuration has
// several servers.
func NewServer(c Upstream, several bool) *Server {
	u := &Server{Config: c, several: several, started: make(chan struct{})}
	u.placement.of = map[*session.Session]*Server{}
	return u
}

var errNoPass = errors.New("the admission has given no pass for the call")

// Send sends a request and returns at once; see [upstream.Upstream.Send]. A call without
// [upstream.Request.Again] is not sent: only package pipeline sets that field, for calls that the
// admission has passed, so no other code can send a call.
func (u *Server) Send(r upstream.Request) *upstream.Exchange {
	if r.Again == nil && spec.IsCall(r.Method) {
		return u.Decline(r, errNoPass)
	}
	return u.Upstream.Send(r)
}

// Rev returns the family of revisions that the server speaks.
func (u *Server) Rev() *rev.Rev { return u.State().Rev() }

// Starting reports whether the server's tools were not listed yet and the server is not known to be
// down.
func (u *Server) Starting() bool { return !closed(u.started) }

// ended reports whether a dedicated connection has ended.
func (u *Server) ended() bool { return closed(u.closed) } // closed is nil for the shared connection, which stays

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// MarkStarted ends the phase that [Server.Starting] reports.
func (u *Server) MarkStarted() { u.once.Do(func() { close(u.started) }) }

// Dedicated reports whether u serves a single session.
func (u *Server) Dedicated() bool { return u.shared != nil }

// Shared returns the shared connection to the server of u: u itself, unless u is dedicated.
func (u *Server) Shared() *Server {
	if u.Dedicated() {
		return u.shared
	}
	return u
}

// Has reports whether the server declares a capability.
func (u *Server) Has(capability string) bool {
	_, ok := rawjson.Member(u.State().Capabilities, capability)
	return ok
}

// can reports whether the server declares a capability with a flag set.
func (u *Server) can(capability, flag string) bool {
	of, _ := rawjson.Member(u.State().Capabilities, capability)
	set, _ := rawjson.Member(of, flag)
	return string(set) == "true"
}

// ResultFor converts a result of the server to the client's revision. Between a server and a client
// of [rev.Rev2025] it changes nothing.
func (u *Server) ResultFor(result []byte, method string, client *rev.Rev) []byte {
	if client == rev.Rev2025 && u.Rev() == rev.Rev2025 {
		return result
	}
	return client.Result(result, method)
}

// unavailableName returns the name of an unavailable server, with the reason if the server refused
// the proxy's credentials.
func (u *Server) unavailableName() string {
	var why *upstream.Unauthorized
	if errors.As(u.State().Err, &why) {
		return u.Config.Name + " (" + text.Escape(why.Error()) + ")"
	}
	return u.Config.Name
}

// ByServer holds a value for each connection to a server, from its first use until the connection
// has ended. The zero value is empty. It is safe for concurrent use.
type ByServer[T any] struct {
	mu sync.Mutex
	of map[*Server]*T
}

// At returns the value of a connection, and creates it if necessary. The value of a connection that
// has ended is not kept.
func (b *ByServer[T]) At(u *Server) *T {
	b.mu.Lock()
	defer b.mu.Unlock()
	if known := b.of[u]; known != nil {
		return known
	}
	made := new(T)
	if u.ended() {
		return made
	}
	if b.of == nil {
		b.of = map[*Server]*T{}
	}
	b.of[u] = made
	return made
}

// Forget drops the value of a connection that has ended.
func (b *ByServer[T]) Forget(u *Server) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.of, u)
}

// WithServerInfo returns the result of initialize or server/discover on behalf of the only server:
// with its name, version, icons and the other members that it sent. The capabilities and the
// revision stay those of the proxy.
func WithServerInfo(u upstream.State, result []byte) []byte {
	if u.Phase != upstream.Up {
		return result
	}
	if u.ServerInfo != nil {
		result = wire.ReplaceMember(nil, result, "serverInfo", u.ServerInfo)
	}
	if ours, has := rawjson.Member(result, "_meta"); has {
		if u.ServerInfo != nil {
			ours = wire.ReplaceMember(nil, ours, mcp.MetaKeyServerInfo, u.ServerInfo)
		}
		meta, _ := rawjson.Member(u.Around, "_meta")
		result = wire.ReplaceMember(nil, result, "_meta", wire.AppendStamped(nil, ours, meta))
	}
	return wire.AppendStamped(nil, result, u.Around)
}
