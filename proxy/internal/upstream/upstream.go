package upstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
	"github.com/petrigate/petrigate/proxy/internal/upstream/stdio"
	"github.com/petrigate/petrigate/proxy/internal/upstream/streamable"
)

// An Upstream is one MCP server behind the proxy. Its methods can be called
// from any goroutine.
type Upstream struct {
	host  *conn.Host
	probe time.Duration // for an answer to server/discover
	meta  []byte        // of each request to a server of 2026-07-28, up to the capabilities

	watched atomic.Pointer[[]string] // resources whose changes are wanted
	rewatch chan struct{}            // gets a value when they have changed

	current atomic.Pointer[conn.Conn] // the connection that is up

	ctx       context.Context //nolint:containedctx // ends with Close; set by Start, as is cancel
	cancel    context.CancelFunc
	startOnce sync.Once
	settle    sync.Once
	settled   chan struct{}
	finished  chan struct{} // closed when the supervisor has ended

	mu    sync.Mutex // outside this file: see locked
	state conn.State

	sse        atomic.Bool // the server speaks HTTP+SSE
	preferred  bool        // a client has decided on the family of revisions
	prefer2025 bool

	declared []byte        // capabilities of the clients behind us
	inForce  []byte        // what of them the server has been told
	upAgain  chan struct{} // closed when it comes up the next time; nil: nobody waits for that
}

const (
	defaultMaxMessage     = 64 << 20
	defaultConnectTimeout = 60 * time.Second
)

// New makes an upstream. It does nothing until Start.
func New(c conn.Config, o conn.Options) *Upstream {
	c.MaxMessage = cmp.Or(c.MaxMessage, defaultMaxMessage)
	o.ConnectTimeout = cmp.Or(o.ConnectTimeout, defaultConnectTimeout)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	u := &Upstream{
		host: &conn.Host{
			Config: c, Options: o, Log: o.Logger.With("upstream", c.Name), Client: streamable.NewHTTPClient(c.TLS), Acked: make(chan int64, 4),
			Grace: conn.Grace{Exit: 2 * time.Second, Term: 2 * time.Second, Kill: 5 * time.Second, Tell: 2 * time.Second},
		},
		declared: []byte(`{}`), rewatch: make(chan struct{}, 1), probe: probeTimeout, meta: requestMeta(o.Version),
		settled: make(chan struct{}), finished: make(chan struct{}),
		state: conn.State{Since: time.Now(), Err: errors.New("not connected yet")},
	}
	u.host.Rev = func() *rev.Rev { return u.State().Rev() }
	u.host.Renew = u.renew
	u.host.Renewed = func() { u.change(func(s *conn.State) { s.Since = time.Now() }) }
	return u
}

// renew shakes hands once more on c, whose session the server has forgotten.
func (u *Upstream) renew(ctx context.Context, c conn.Conn, version string) (*conn.Session, error) {
	a, err := u.shake(ctx, c, version)
	if err != nil {
		return nil, err
	}
	u.locked(func() { u.inForce = a.declared })
	return a.session, nil
}

// Start connects in the background, again and again until ctx ends or Close
// is called. It returns at once.
func (u *Upstream) Start(ctx context.Context) {
	u.startOnce.Do(func() {
		u.ctx, u.cancel = context.WithCancel(ctx)
		go u.supervise(u.ctx)
	})
}

// Close ends the connection, with all processes of a child, and waits for
// that. What is in flight gets its reply first.
func (u *Upstream) Close() error {
	u.startOnce.Do(func() { close(u.finished) }) // never started
	if u.cancel != nil {
		u.cancel()
	}
	<-u.finished
	return nil
}

// Cork holds back what is sent to a child until the function that it returns
// is called: the caller has more at hand. Nothing is held back over HTTP.
func (u *Upstream) Cork() (uncork func()) {
	if current := u.current.Load(); current != nil {
		if c, ok := (*current).(*stdio.Conn); ok {
			c.Stdin.Cork()
			return c.Stdin.Uncork
		}
	}
	return func() {}
}

// OneReader reports whether what the server says comes on one stream for all
// requests, whose reader must not be kept waiting for the sake of one of them.
func (u *Upstream) OneReader() bool { return u.host.Config.Command != "" || u.sse.Load() }

// Settled is closed once the upstream is up for the first time, or the first
// attempt has failed.
func (u *Upstream) Settled() <-chan struct{} { return u.settled }

// Said returns the last lines that the server's process has written to standard
// error, or to standard output without being messages. They are the server's
// own words, for an operator: no client is to see them.
func (u *Upstream) Said() []string { return u.host.Words.Said() }

// locked runs f under the lock. f must not block.
func (u *Upstream) locked(f func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	f()
}

// State returns what is known now.
func (u *Upstream) State() conn.State {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.state
}

// NewToken returns a number that this upstream has not seen yet, for a
// progress token.
func (u *Upstream) NewToken() int64 { return u.host.IDs.Add(1) }

// RequestMeta returns the members that a server of 2026-07-28 expects in the _meta
// of each request, without braces; nil for one of 2025-11-25. The capabilities are
// those of the client behind the request; nil: all that can be relayed.
func (u *Upstream) RequestMeta(capabilities []byte) []byte {
	if !u.State().Rev().PerRequest {
		return nil
	}
	return u.ownMeta(capabilities)
}

func (u *Upstream) ownMeta(capabilities []byte) []byte {
	if capabilities == nil {
		capabilities = u.relayable()
	}
	return append(u.meta[:len(u.meta):len(u.meta)], capabilities...)
}

// Send sends r and returns at once. While the upstream is not up the reply is
// there already, and says why.
func (u *Upstream) Send(r conn.Request) *conn.Exchange {
	x := conn.NewExchange(r, u.host.IDs.Add(1))
	c := u.current.Load()
	if c != nil {
		x.Use(*c)
	}
	switch {
	case r.Begin != nil && !r.Begin(x):
		x.GiveUp()
		x.Deliver(conn.Reply{Err: conn.NotSent(streamable.ErrCancelled)})
	case c == nil:
		x.Deliver(conn.Reply{Err: u.unavailable()})
	case !conn.PlainMethod(r.Method):
		x.Deliver(conn.Reply{Err: conn.NotSent(fmt.Errorf("bad method %q", r.Method))})
	default:
		x.Conn.Send(x)
	}
	return x
}

// Decline returns the exchange of a request that is not sent, with the reason as its reply.
func (u *Upstream) Decline(r conn.Request, why error) *conn.Exchange {
	x := conn.NewExchange(r, u.host.IDs.Add(1))
	x.Deliver(conn.Reply{Err: conn.NotSent(why)})
	return x
}

// Notify sends a notification, if the server is up. Nobody learns whether it
// arrived.
func (u *Upstream) Notify(method string, params []byte) {
	current := u.current.Load()
	if current == nil {
		return
	}
	notify := func() { _ = (*current).Notify(u.ctx, nil, method, params) }
	if u.host.Config.Command != "" { // it does not wait
		notify()
	} else {
		u.host.Work.Go(notify)
	}
}

func (u *Upstream) unavailable() error {
	s := u.State()
	err := fmt.Errorf("%s is %s", u.host.Config.Name, s.Phase)
	if s.Err != nil { // else it came up or went down just now
		err = fmt.Errorf("%w: %w", err, s.Err)
	}
	return conn.NotSent(err)
}

// change sets the state and tells about it.
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
