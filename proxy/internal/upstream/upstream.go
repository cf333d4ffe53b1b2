package upstream

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
	"github.com/petrigate/petrigate/proxy/internal/upstream/stdio"
	"github.com/petrigate/petrigate/proxy/internal/upstream/streamable"
	"github.com/petrigate/petrigate/proxy/internal/wait"
)

// An Upstream is an MCP server behind the proxy. It is safe for concurrent use.
type Upstream struct {
	host  *conn.Host
	probe time.Duration // timeout for server/discover
	meta  []byte        // start of the _meta of each request in revision 2026-07-28; see requestMeta

	watched atomic.Pointer[[]string] // URIs of the watched resources
	rewatch wait.Signal              // signals that the watched resources have changed

	current atomic.Pointer[conn.Conn] // current connection; nil while the upstream is down

	ctx       context.Context //nolint:containedctx // canceled by Close; Start sets ctx and cancel
	cancel    context.CancelFunc
	startOnce sync.Once
	settle    sync.Once
	settled   chan struct{}
	finished  chan struct{} // closed when the supervisor returns

	mu    sync.Mutex // guards the non-atomic fields below it; code in other files must use withLock
	state conn.State

	sse        atomic.Bool // whether the server uses HTTP+SSE
	preferred  bool        // whether the first client's preference has been stored in prefer2025
	prefer2025 bool

	declared []byte        // union of all clients' capabilities
	inForce  []byte        // capabilities declared in the latest handshake
	upAgain  chan struct{} // channel that is closed the next time the server comes up; nil if no caller is waiting for it
}

// Cork buffers the messages to a child process until the caller calls uncork. It is meant for
// callers that are about to send several messages. Over HTTP, it has no effect.
func (u *Upstream) Cork() (uncork func()) {
	if current := u.current.Load(); current != nil {
		if c, ok := (*current).(*stdio.Conn); ok {
			c.Stdin.Cork()
			return c.Stdin.Uncork
		}
	}
	return func() {}
}

// OneReader reports whether all messages from the server arrive on a single stream. The goroutine
// that reads such a stream must not wait for the reply to a request, because only that goroutine
// can read the reply.
func (u *Upstream) OneReader() bool { return u.host.Config.Command != "" || u.sse.Load() }

// Settled returns a channel that is closed once the first attempt to connect has succeeded or
// failed.
func (u *Upstream) Settled() <-chan struct{} { return u.settled }

// Output returns the last lines of the server process's output: its standard error, and the lines
// of standard output that are not messages. They are meant for operators and must not be shown to
// clients.
func (u *Upstream) Output() []string { return u.host.Words.Said() }

// withLock calls f with mu held. f must not block.
func (u *Upstream) withLock(f func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	f()
}

// State returns the current state.
func (u *Upstream) State() conn.State {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.state
}

// Rev returns [rev.Rev2025] or [rev.Rev2026], depending on the server's protocol revision. It
// returns Rev2025 if the revision is unknown.
func (u *Upstream) Rev() *rev.Rev {
	u.mu.Lock()
	defer u.mu.Unlock()
	return rev.Of(u.state.ProtocolVersion)
}

// NewToken returns a progress token that has not been used for this upstream before.
func (u *Upstream) NewToken() int64 { return u.host.IDs.Add(1) }

// Send sends a request. It returns without waiting for the reply, unless r.Here is set. If the
// upstream is not up, Send immediately delivers a reply that contains an error.
func (u *Upstream) Send(r conn.Request) *conn.Exchange {
	var c conn.Conn
	if current := u.current.Load(); current != nil {
		c = *current
	}
	x := conn.NewExchange(c, r, u.host.IDs.Add(1))
	switch {
	case r.Begin != nil && !r.Begin(x):
		x.GiveUp()
		x.Deliver(conn.Reply{Err: conn.NotSent(streamable.ErrCancelled)})
	case c == nil:
		x.Deliver(conn.Reply{Err: u.unavailable()})
	default:
		c.Send(x)
	}
	return x
}

// Decline returns an exchange for a request that is not sent. Its reply contains the given error.
func (u *Upstream) Decline(r conn.Request, why error) *conn.Exchange {
	x := conn.NewExchange(nil, r, u.host.IDs.Add(1))
	x.Deliver(conn.Reply{Err: conn.NotSent(why)})
	return x
}

// Notify sends a notification if the server is up. It does not report whether the server receives
// it.
func (u *Upstream) Notify(method string, params []byte) {
	current := u.current.Load()
	if current == nil {
		return
	}
	notify := func() { _ = (*current).Notify(u.ctx, nil, method, params) }
	if u.host.Config.Command != "" { // writing to a child does not block
		notify()
	} else {
		u.host.Work.Go(notify)
	}
}

func (u *Upstream) unavailable() error {
	s := u.State()
	err := fmt.Errorf("%s is %s", u.host.Config.Name, s.Phase)
	if s.Err != nil { // nil if nothing has failed, for example while the connection is being replaced
		err = fmt.Errorf("%w: %w", err, s.Err)
	}
	return conn.NotSent(err)
}

// change calls f to update the state, and then calls OnState.
func (u *Upstream) change(f func(*conn.State)) {
	u.mu.Lock()
	before := u.state.Phase
	f(&u.state)
	if u.state.Phase != before {
		u.state.Since = time.Now()
	}
	u.mu.Unlock()
	u.settle.Do(func() { close(u.settled) })
	if u.host.Options.OnState != nil {
		u.host.Options.OnState()
	}
}
