package pool

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/burst"
	"github.com/petrigate/petrigate/proxy/internal/quota"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A Server is a connection to an MCP server, either shared by sessions or dedicated to one of them.
type Server struct {
	*upstream.Upstream
	Config  Upstream
	several bool // whether several servers are configured

	Burst     burst.Burst    // combines replies that were read together, so that they can be recorded together
	Listing   relisting      // state of the proxy's tools/list requests to the server
	InFlight  queue          // requests that have been sent but not answered
	Abandoned abandonedCalls // canceled calls that the server may still be working on

	// Used only in shared connections.
	placement placement
	Calls     quota.Quota // calls in flight on all connections to the server, if limits.inFlight is set

	// Used only in dedicated connections.
	shared  *Server          // the shared connection to the same server; nil in the shared connection itself
	Session *session.Session // session served by this connection
	closed  chan struct{}    // closed when the connection has ended; nil in shared connections
	used    atomic.Int64     // time of the latest request, in Unix nanoseconds

	once    sync.Once
	started chan struct{} // closed when the tools have been listed once or the server is known to be down
}

// NewServer returns a server without a connection. several must be true if the configuration
// contains several servers.
func NewServer(c Upstream, several bool) *Server {
	u := &Server{Config: c, several: several, started: make(chan struct{})}
	u.placement.of = map[*session.Session]*Server{}
	return u
}

var errNoPass = errors.New("the call has not been admitted")

// Send sends a request; see [upstream.Upstream.Send]. It refuses a call if the field Again of the
// [upstream.Request] is not set. Only package pipeline sets that field, and only for calls that
// have passed admission. Therefore, no other code can send a call.
func (u *Server) Send(r upstream.Request) *upstream.Exchange {
	if r.Again == nil && spec.IsCall(r.Method) {
		return u.Decline(r, errNoPass)
	}
	return u.Upstream.Send(r)
}

// Starting reports whether the server may still be starting: its tools have not been listed, and it
// is not known to be down.
func (u *Server) Starting() bool { return !closed(u.started) }

// ended reports whether a dedicated connection has ended.
func (u *Server) ended() bool { return closed(u.closed) } // u.closed is nil in a shared connection, which never ends

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// MarkStarted records that the server is no longer starting; see [Server.Starting].
func (u *Server) MarkStarted() { u.once.Do(func() { close(u.started) }) }

// Dedicated reports whether the connection serves only one session.
func (u *Server) Dedicated() bool { return u.shared != nil }

// SharedConnection returns the shared connection to the same server, which may be u itself.
func (u *Server) SharedConnection() *Server {
	if u.Dedicated() {
		return u.shared
	}
	return u
}

// Has reports whether the server declares the given capability.
func (u *Server) Has(capability string) bool {
	_, ok := rawjson.Member(u.State().Capabilities, capability)
	return ok
}

// hasFlag reports whether the server declares the given capability with the given flag.
func (u *Server) hasFlag(capability, flag string) bool {
	set, _ := rawjson.MemberAt(u.State().Capabilities, capability, flag)
	return string(set) == "true"
}

// ResultFor converts a server's result to the client's revision. If both use [rev.Rev2025], the
// result is returned unchanged.
func (u *Server) ResultFor(result []byte, method string, client *rev.Rev) []byte {
	if client == rev.Rev2025 && u.Rev() == rev.Rev2025 {
		return result
	}
	return client.Result(result, method)
}

// unavailableName returns the name of an unavailable server. If the server has refused the proxy's
// credentials, the name is followed by the error in parentheses.
func (u *Server) unavailableName() string {
	if why, ok := errors.AsType[*upstream.Unauthorized](u.State().Err); ok {
		return u.Config.Name + " (" + text.Escape(why.Error()) + ")"
	}
	return u.Config.Name
}

// An inflightRequest is a request that has been sent to a server but has not been answered.
type inflightRequest interface {
	Holding() bool        // reports whether the request is waiting for the client's input; its timeout is then suspended
	Abandon(reason error) // stops waiting for the reply
}

// A QueuePlace holds a request's position in the queue of requests in flight to a server.
type QueuePlace struct {
	Request inflightRequest
	SentAt  time.Time
	number  int // position in the queue, counting from 1, or 0 if not queued; guarded by the queue's lock
}

// A queue holds the requests in flight to one server. A single goroutine checks all of them for
// timeouts, because a timer for each call would cost more than the call itself. mu guards the field
// all and the positions of the requests.
type queue struct {
	mu  sync.Mutex
	all []*QueuePlace // the requests, in no particular order; the position of a request is its index plus one
}

// Push adds the request f to the queue. It is called just before the request is sent. It stores the
// request's position in p. The timeout starts at the given time.
func (q *queue) Push(p *QueuePlace, f inflightRequest, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.all = append(q.all, p)
	p.Request, p.SentAt, p.number = f, now, len(q.all)
}

// Len returns the number of requests in the queue.
func (q *queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.all)
}

// Remove removes p's request from the queue, if it is there.
func (q *queue) Remove(p *QueuePlace) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if p.number == 0 {
		return
	}
	last := len(q.all) - 1
	q.all[p.number-1] = q.all[last]
	q.all[p.number-1].number = p.number
	q.all[last] = nil
	q.all = q.all[:last]
	p.number = 0
}

// All returns the [QueuePlace] of each queued request, sorted by SentAt.
func (q *queue) All() []*QueuePlace {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.SortedFunc(slices.Values(q.all), func(a, b *QueuePlace) int { return a.SentAt.Compare(b.SentAt) })
}

// restartTimeout restarts the timeout of p's request.
func (q *queue) restartTimeout(p *QueuePlace, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	p.SentAt = now
}

// An abandonedCalls counts, for each session, the calls that the proxy has abandoned but the server
// has not answered. The server may still send requests that belong to these calls.
type abandonedCalls struct {
	mu sync.Mutex
	of map[*session.Session]int // number of abandoned calls per session; a session without abandoned calls has no entry
}

// Add adds n, which may be negative, to the number of the session's abandoned calls.
func (a *abandonedCalls) Add(s *session.Session, n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of == nil {
		a.of = map[*session.Session]int{}
	}
	if a.of[s] += n; a.of[s] == 0 {
		delete(a.of, s)
	}
}

// HasOthers reports whether the server may still be working on an abandoned call from a session
// other than s.
func (a *abandonedCalls) HasOthers(s *session.Session) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for other := range a.of {
		if other != s {
			return true
		}
	}
	return false
}

// A ServerMap maps each connection to a value of type T, from the connection's first use until its
// end. The zero value is ready to use. A ServerMap is safe for concurrent use.
type ServerMap[T any] struct {
	mu sync.Mutex
	of map[*Server]*T
}

// At returns the connection's value, creating it if necessary. If the connection has ended, a new
// value is not stored.
func (b *ServerMap[T]) At(u *Server) *T {
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

// Forget removes the value of a connection that has ended.
func (b *ServerMap[T]) Forget(u *Server) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.of, u)
}

// WithServerInfo changes a result of initialize or server/discover so that it describes the server
// instead of the proxy. It is used if the proxy has only one server. u is the server's state.
// WithServerInfo replaces the serverInfo (name, version and icons). It adds the members of the
// server's _meta, and the members of the server's result that the specification does not define. It
// replaces no other member of the result. If the server is not up, WithServerInfo returns the
// result unchanged.
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

// serverNameKey is the _meta key for the name of the server that sent a request.
const serverNameKey = "io.petrigate/upstream"

// WithServerName returns the params of a server's request to a client. If several servers are
// configured, it adds the server's name to _meta. A server cannot forge the name, because the proxy
// removes members with its own prefix from the servers' messages.
func (u *Server) WithServerName(params []byte) []byte {
	if !u.several {
		return params
	}
	meta, _ := rawjson.Member(params, "_meta")
	if rawjson.Kind(meta) != '{' {
		meta = nil
	}
	meta = wire.SetMember(meta, serverNameKey, rawjson.AppendString(nil, u.Config.Name))
	return wire.SetMember(params, "_meta", meta)
}

// WithServerNames returns an input_required result of u with the server's name added to each of its
// inputRequests.
func (u *Server) WithServerNames(result []byte) []byte {
	requests, ok := rawjson.Member(result, "inputRequests")
	if !ok || !u.several {
		return result
	}
	changed := requests
	rawjson.Members(requests, func(key, request []byte, _ int) bool {
		params, _ := rawjson.Member(request, "params")
		request = wire.SetMember(request, "params", u.WithServerName(params))
		changed = wire.ReplaceMember(nil, changed, string(key), request)
		return true
	})
	return wire.ReplaceMember(nil, result, "inputRequests", changed)
}

// RemoveAnswered removes the answered requests from a slice, and returns the modified slice.
func RemoveAnswered(all []*upstream.ServerRequest) []*upstream.ServerRequest {
	kept := all[:0]
	for _, q := range all {
		if q.Context().Err() == nil {
			kept = append(kept, q)
		}
	}
	clear(all[len(kept):])
	return kept
}
