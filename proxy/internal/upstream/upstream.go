package upstream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Config says which server to connect to: one that is started as a child
// (Command), or one that listens (URL).
type Config struct {
	Name string

	Command string
	Args    []string
	Env     map[string]string // beside the few variables that every child gets
	Dir     string

	URL         string
	Headers     map[string]string
	Credentials Credentials // beside the headers; nil: none
	TLS         *tls.Config // how the server is known, and who we are to it; nil: as usual. Never less than TLS 1.2
	Transport   string      // TransportSSE; else streamable HTTP, or HTTP+SSE where the server does not know that

	Protocol   string        // "" or "auto", "legacy", or a revision such as "2026-07-28"
	Timeout    time.Duration // of one call; not used here
	MaxMessage int           // bytes; 0: 64 MiB. A longer message ends the connection
}

// Options are what an Upstream needs of its surroundings. The zero value works.
type Options struct {
	Logger  *slog.Logger // nil: discard
	Version string       // of this program, for the server to see

	// OnNotification gets what the server says on its own account. It runs on
	// the connection's reader and must not wait.
	OnNotification func(method string, params []byte)
	// OnListen is called when it begins to be heard what the server says on its
	// own account: what it said before is missed. It must not wait.
	OnListen func()
	// OnInquiry gets the requests of a legacy server that belong to no request
	// of ours. It must not wait. nil: they are refused.
	OnInquiry func(q *Inquiry)
	// OnState is called when the upstream came up, went down, or was given up.
	// It must not wait for the upstream.
	OnState func()

	// Busy reports whether the server does work that no request waits for, so
	// that it must not be ended for a new handshake. nil: it never does.
	Busy func() bool

	// OnBurst is told when a child's reader has more messages at hand than one,
	// and when it has none left, for its user to put together what comes of
	// them. It must not wait.
	OnBurst func(begins bool)

	// Watchdog ends the processes of children where this one cannot. nil: only
	// what the system does by itself.
	Watchdog *Watchdog

	// ConnectTimeout bounds one attempt to connect, with the time that the
	// server takes to start; 0: 60 s.
	ConnectTimeout time.Duration
}

const (
	defaultMaxMessage     = 64 << 20
	defaultConnectTimeout = 60 * time.Second
)

// conn is one connection to a server.
type conn interface {
	// send delivers a reply to x in the end, and never waits.
	send(x *Exchange)
	cancel(x *Exchange, reason string)
	// notify sends a notification. s is the session that it belongs to, over HTTP.
	notify(ctx context.Context, s *session, method string, params []byte) error
	// agree begins the use of what a handshake agreed on.
	agree(s *session)
	// over is closed when the connection is of no more use; cause says why.
	over() <-chan struct{}
	cause() error
	// retire ends the connection. It returns once nothing is left of the
	// server's processes.
	retire()
}

// An Upstream is one MCP server behind the proxy. Its methods can be called
// from any goroutine.
type Upstream struct {
	host  *host
	probe time.Duration // for an answer to server/discover
	meta  []byte        // of each request to a modern server, up to the capabilities

	watched atomic.Pointer[[]string] // resources whose changes are wanted
	rewatch chan struct{}            // gets a value when they have changed

	current atomic.Pointer[conn] // the connection that is up

	cancel    context.CancelFunc // set by Start
	startOnce sync.Once
	closeOnce sync.Once
	settle    sync.Once
	settled   chan struct{}
	finished  chan struct{} // closed when the supervisor has ended

	mu    sync.Mutex
	state State

	sse          atomic.Bool // the server speaks HTTP+SSE
	preferred    bool        // a client has decided on the era
	preferLegacy bool

	declared []byte        // capabilities of the clients behind us
	inForce  []byte        // what of them the server has been told
	upAgain  chan struct{} // closed when it comes up the next time; nil: nobody waits for that
}

// New makes an upstream. It does nothing until Start.
func New(c Config, o Options) *Upstream {
	if c.MaxMessage <= 0 {
		c.MaxMessage = defaultMaxMessage
	}
	if o.ConnectTimeout <= 0 {
		o.ConnectTimeout = defaultConnectTimeout
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	u := &Upstream{
		host: &host{
			config: c, options: o, log: o.Logger.With("upstream", c.Name), grace: usualGrace(), client: newHTTPClient(c.TLS),
			acked: make(chan int64, 4),
		},
		declared: []byte(`{}`), rewatch: make(chan struct{}, 1), probe: probeTimeout, meta: requestMeta(o.Version),
		settled: make(chan struct{}), finished: make(chan struct{}),
		state: State{Since: time.Now(), Err: errors.New("not connected yet")},
	}
	u.host.era = func() Era { return u.State().Era }
	u.host.renew = u.renew
	u.host.renewed = func() { u.change(func(s *State) { s.Since = time.Now() }) }
	return u
}

// renew shakes hands once more on c, whose session the server has forgotten.
func (u *Upstream) renew(ctx context.Context, c conn, version string) (*session, error) {
	a, err := u.shake(ctx, c, version)
	if err != nil {
		return nil, err
	}
	u.mu.Lock()
	u.inForce = a.declared
	u.mu.Unlock()
	return a.session, nil
}

// Start connects in the background, again and again until ctx ends or Close
// is called. It returns at once.
func (u *Upstream) Start(ctx context.Context) {
	u.startOnce.Do(func() {
		ctx, u.cancel = context.WithCancel(ctx)
		go u.supervise(ctx)
	})
}

// Close ends the connection, with all processes of a child, and waits for
// that. What is in flight gets its reply first.
func (u *Upstream) Close() error {
	u.startOnce.Do(func() { close(u.finished) }) // never started
	u.closeOnce.Do(func() {
		if u.cancel != nil {
			u.cancel()
		}
	})
	<-u.finished
	return nil
}

// Cork holds back what is sent to a child until the function that it returns
// is called: the caller has more at hand. Nothing is held back over HTTP.
func (u *Upstream) Cork() (uncork func()) {
	if current := u.current.Load(); current != nil {
		if c, ok := (*current).(*stdioConn); ok {
			c.stdin.cork()
			return c.stdin.uncork
		}
	}
	return func() {}
}

// OneReader reports whether what the server says comes on one stream for all
// requests, whose reader must not be kept waiting for the sake of one of them.
func (u *Upstream) OneReader() bool { return u.host.config.Command != "" || u.sse.Load() }

// Settled is closed once the upstream is up for the first time, or the first
// attempt has failed.
func (u *Upstream) Settled() <-chan struct{} { return u.settled }

// Said returns the last lines that the server's process has written to standard
// error, or to standard output without being messages. They are the server's
// own words, for an operator: no client is to see them.
func (u *Upstream) Said() []string { return u.host.words.said() }

// State returns what is known now.
func (u *Upstream) State() State {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.state
}

// NewToken returns a number that this upstream has not seen yet, for a
// progress token.
func (u *Upstream) NewToken() int64 { return u.host.ids.Add(1) }

// RequestMeta returns the members that a modern server wants in the _meta of
// each request, without braces; nil for a legacy server. The capabilities are
// those of the client behind the request; nil: all that can be relayed.
func (u *Upstream) RequestMeta(capabilities []byte) []byte {
	if u.State().Era != Modern {
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
func (u *Upstream) Send(r Request) *Exchange {
	x := newExchange(r, u.host.ids.Add(1))
	c := u.current.Load()
	if c != nil {
		x.use(*c)
	}
	switch {
	case r.Begin != nil && !r.Begin(x):
		x.giveUp()
		x.deliver(Reply{Err: notSent(errCancelled)})
	case c == nil:
		x.deliver(Reply{Err: u.unavailable()})
	case !plainMethod(r.Method):
		x.deliver(Reply{Err: notSent(fmt.Errorf("bad method %q", r.Method))})
	default:
		x.conn.send(x)
	}
	return x
}

// Notify sends a notification, if the server is up. Nobody learns whether it
// arrived.
func (u *Upstream) Notify(method string, params []byte) {
	current := u.current.Load()
	if current == nil || !u.host.work.begin() {
		return
	}
	c := *current
	if _, child := c.(*stdioConn); child {
		defer u.host.work.done()
		_ = c.notify(context.Background(), nil, method, params)
		return
	}
	go func() {
		defer u.host.work.done()
		switch c := c.(type) {
		case *httpConn:
			_ = c.notify(c.ctx, c.current.Load(), method, params)
		case *sseConn:
			_ = c.notify(c.ctx, nil, method, params)
		}
	}()
}

func (u *Upstream) unavailable() error {
	s := u.State()
	if s.Err == nil { // it came up or went down just now
		return notSent(fmt.Errorf("%s is %s", u.host.config.Name, s.Phase))
	}
	return notSent(fmt.Errorf("%s is %s: %w", u.host.config.Name, s.Phase, s.Err))
}

// change sets the state and tells about it.
func (u *Upstream) change(f func(*State)) {
	u.mu.Lock()
	before := u.state.Phase
	f(&u.state)
	if u.state.Phase != before {
		u.state.Since = time.Now()
	}
	u.mu.Unlock()
	u.settle.Do(func() { close(u.settled) })
	if u.host.options.OnState != nil {
		u.host.options.OnState()
	}
}

// heard takes a notification that belongs to no request.
func (u *host) heard(method string, params []byte) {
	if method == "notifications/subscriptions/acknowledged" { // from now on nothing is missed
		select {
		case u.acked <- acknowledged(params):
		default: // nobody listens
		}
		return
	}
	if u.options.OnNotification != nil {
		u.options.OnNotification(method, params)
	}
}
