package upstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"runtime"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/petrigate/petrigate/internal/logkind"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
	"github.com/petrigate/petrigate/proxy/internal/upstream/httpsse"
	"github.com/petrigate/petrigate/proxy/internal/upstream/process"
	"github.com/petrigate/petrigate/proxy/internal/upstream/stdio"
	"github.com/petrigate/petrigate/proxy/internal/upstream/streamable"
	"github.com/petrigate/petrigate/proxy/internal/wait"
)

// supervise keeps the upstream connected until ctx is done, or gives up after a permanent error. If
// the upstream is a child process, supervise stays on one thread, because on Linux the kernel kills
// a child when the thread that started it ends.
func (u *Upstream) supervise(ctx context.Context) {
	if u.host.Config.Command != "" {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	defer close(u.finished)
	defer u.host.Client.CloseIdleConnections()
	defer u.host.Work.Wait()
	defer u.host.Work.Close()
	s := supervisor{Upstream: u}
	for ctx.Err() == nil && !s.gaveUp {
		s.connectOnce(ctx)
	}
	if !s.gaveUp {
		u.change(func(s *conn.State) { s.Phase, s.Err = conn.Failed, process.ErrClosed })
	}
}

// A supervisor holds the state that is kept between attempts to connect.
type supervisor struct {
	*Upstream
	failures int  // number of consecutive failures
	everUp   bool // whether the upstream has ever connected; if so, the configuration is known to work
	only2025 bool // whether the latest attempt to connect negotiated [rev.Rev2025]; if so, the next attempt skips server/discover
	fellBack bool // whether the server uses HTTP+SSE instead of streamable HTTP
	gaveUp   bool
}

// connectOnce makes one attempt to connect and, if it succeeds, waits until the connection ends. It
// then pauses until the next attempt is due.
func (s *supervisor) connectOnce(ctx context.Context) {
	c, agreed, err := s.connect(ctx)
	if ctx.Err() != nil && err != nil {
		return
	}
	if err != nil {
		s.handleFailure(ctx, err)
		return
	}
	s.everUp, s.only2025 = true, agreed.Rev() == rev.Rev2025
	started := time.Now()
	stopListening := s.listen(ctx, c, agreed)
	if h, ok := c.(*streamable.Conn); ok && agreed.Rev() == rev.Rev2025 {
		h.AwaitStream(ctx) // requests that the server sends before the stream is open might be lost
	}
	s.up(c, agreed)
	select {
	case <-ctx.Done():
	case <-c.Over():
	}
	s.current.Store(nil)
	redeclared := errors.Is(c.Cause(), errRedeclared)
	if ctx.Err() == nil && !redeclared {
		s.host.Log.Warn("upstream lost", "error", c.Cause())
		s.change(func(st *conn.State) { st.Phase, st.Err, st.Pid = conn.Down, c.Cause(), 0 })
	}
	stopListening()
	c.Retire()
	if time.Since(started) > conn.StableAge {
		s.failures = 0
	}
	if !redeclared {
		s.pause(ctx)
	}
}

func (s *supervisor) up(c conn.Conn, a agreement) {
	var waiting chan struct{}
	s.host.Log.Info("upstream connected", logkind.Connected, "protocol", a.ProtocolVersion)
	s.change(func(st *conn.State) { // set the connection before the state becomes visible, so that a caller that sees the new state also gets the new connection
		s.current.Store(&c)
		s.inForce = a.declared
		waiting, s.upAgain = s.upAgain, nil
		st.Phase, st.Err, st.Introduction = conn.Up, nil, a.Introduction
		if p, ok := c.(*stdio.Conn); ok {
			st.Pid = p.Pid
		}
	})
	if waiting != nil {
		close(waiting)
	}
}

// handleFailure handles a failed attempt to connect. If the error is permanent and the upstream has
// never been connected, it gives up. Otherwise, it pauses until the next attempt is due.
func (s *supervisor) handleFailure(ctx context.Context, err error) {
	if errors.As(err, new(conn.Permanent)) && !s.everUp {
		s.host.Log.Error("gave up on the upstream", "error", err)
		s.gaveUp = true
		s.change(func(st *conn.State) { st.Phase, st.Err = conn.Failed, err })
		return
	}
	s.host.Log.Warn("connecting to upstream", "error", err)
	s.change(func(st *conn.State) { st.Phase, st.Err = conn.Down, err })
	if errors.As(err, new(*streamable.Unauthorized)) {
		s.pauseUntil(ctx, s.host.Config.Credentials.Await)
		return
	}
	s.pause(ctx)
}

// pause waits before the next attempt. The pauses grow and are randomized, so that proxies do not
// all reconnect to a failed server at the same moment.
func (s *supervisor) pause(ctx context.Context) {
	s.pauseUntil(ctx, func(within context.Context) { <-within.Done() })
}

// pauseUntil calls f and delays the next attempt to connect until f returns. The context of f is
// canceled after the usual pause.
func (s *supervisor) pauseUntil(ctx context.Context, f func(context.Context)) {
	d := min(conn.FirstPause<<min(s.failures, 10), conn.LastPause)
	s.failures++
	within, cancel := context.WithTimeout(ctx, d/2+rand.N(d))
	defer cancel()
	f(within)
}

// connect opens a connection and performs the handshake. If a child dies on receiving
// server/discover, connect starts it again and sends initialize instead.
func (s *supervisor) connect(ctx context.Context) (conn.Conn, agreement, error) {
	protocol := s.host.Config.Protocol
	if protocol == "auto" {
		protocol = ""
	}
	probing := protocol == "" && !s.only2025
	s.sse.Store(s.host.Config.SSE || s.fellBack)
	if protocol == "" && s.only2025 || s.sse.Load() {
		protocol = "legacy"
	}
	c, a, err := s.attempt(ctx, protocol)
	if err != nil && s.mayFallBack(protocol, err) && ctx.Err() == nil {
		return s.fallBack(ctx, err)
	}
	if err != nil && probing && errors.Is(err, errDiedOfProbe) && ctx.Err() == nil {
		s.host.Log.Debug("the server exited on server/discover; restarting it without that request")
		return s.attempt(ctx, "legacy")
	}
	if err != nil {
		s.only2025, s.fellBack = false, false // try all protocols again at the next attempt, because the server may have been replaced
	}
	return c, a, err
}

// mayFallBack reports whether the server has responded to streamable HTTP like a server that
// supports only HTTP+SSE.
func (s *supervisor) mayFallBack(protocol string, err error) bool {
	var status *conn.StatusError
	if s.host.Config.URL == "" || s.sse.Load() || protocol != "" && protocol != "legacy" || !errors.As(err, &status) {
		return false
	}
	return status.Code == http.StatusBadRequest || status.Code == http.StatusNotFound || status.Code == http.StatusMethodNotAllowed
}

// fallBack tries HTTP+SSE after streamable HTTP has failed. If HTTP+SSE fails too, fallBack returns
// its argument, the error from streamable HTTP.
func (s *supervisor) fallBack(ctx context.Context, first error) (conn.Conn, agreement, error) {
	s.sse.Store(true)
	c, a, err := s.attempt(ctx, "legacy")
	if err != nil {
		s.sse.Store(false)
		s.only2025 = false
		s.host.Log.Debug("the server does not support HTTP+SSE either", "error", err)
		return nil, agreement{}, first
	}
	s.fellBack = true
	s.host.Log.Info("the server does not support streamable HTTP; using HTTP+SSE")
	return c, a, nil
}

func (s *supervisor) attempt(ctx context.Context, protocol string) (conn.Conn, agreement, error) {
	c, err := s.open(ctx)
	if err != nil {
		return nil, agreement{}, err
	}
	within, cancel := context.WithTimeout(ctx, s.host.Options.ConnectTimeout)
	defer cancel()
	a, err := s.handshake(within, c, protocol)
	if err == nil {
		again := ""
		declared, prefers2025 := s.handshakeWishes()
		switch is2026 := a.Rev() == rev.Rev2026; {
		case is2026 && a.Speaks2025 && prefers2025:
			again = "legacy"
		case a.late2026 && !prefers2025: // the server offered revision 2026-07-28 only after the timeout, perhaps because it starts slowly; use that revision anyway, so that the choice does not depend on the server's speed
			again = mcp.ProtocolVersion20260728
		case is2026 || covers(a.declared, declared):
			c.Agree(a.session)
			return c, a, nil
		default: // clients have declared more capabilities since the handshake began
			again = "legacy"
		}
		c.Retire()
		return s.attempt(ctx, again)
	}
	if child, ok := c.(*stdio.Conn); ok {
		err = child.Reason(err)
	}
	c.Retire()
	if within.Err() == context.DeadlineExceeded {
		err = fmt.Errorf("the server did not complete the handshake within %v", s.host.Options.ConnectTimeout)
	}
	return nil, agreement{}, err
}

// open opens a connection with the configured transport.
func (u *Upstream) open(ctx context.Context) (conn.Conn, error) {
	switch {
	case u.host.Config.Command != "" && u.host.Config.URL != "":
		return nil, conn.Permanently(errors.New("both a command and a url are given"))
	case u.host.Config.Command != "":
		return stdio.Spawn(u.host)
	case u.host.Config.URL != "" && u.sse.Load():
		return httpsse.Dial(ctx, u.host)
	case u.host.Config.URL != "":
		return streamable.Dial(ctx, u.host)
	}
	return nil, conn.Permanently(errors.New("neither a command nor a url is given"))
}

// New returns an upstream, which does nothing until Start is called.
func New(c conn.Config, o conn.Options) *Upstream {
	c.MaxMessage = cmp.Or(c.MaxMessage, defaultMaxMessage)
	o.ConnectTimeout = cmp.Or(o.ConnectTimeout, defaultConnectTimeout)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	u := &Upstream{
		host: &conn.Host{
			Config: c, Options: o, Log: o.Logger.With("upstream", c.Name), Client: streamable.NewHTTPClient(c.TLS), Acked: make(chan int64, 4),
			Grace: conn.Grace{Exit: 2 * time.Second, Term: 2 * time.Second, Kill: 5 * time.Second, Tell: 2 * time.Second},
		},
		declared: []byte(`{}`), rewatch: wait.NewSignal(), probe: probeTimeout, meta: requestMeta(o.Version),
		settled: make(chan struct{}), finished: make(chan struct{}),
		state: conn.State{Since: time.Now(), Err: errors.New("not connected yet")},
	}
	u.host.Rev = u.Rev
	u.host.Renew = u.renew
	u.host.Renewed = func() { u.change(func(s *conn.State) { s.Since = time.Now() }) }
	return u
}

// renew opens a new session on the connection c. It is called when the server no longer knows the
// session, or when more client capabilities must be declared.
func (u *Upstream) renew(ctx context.Context, c conn.Conn, version string) (*conn.Session, error) {
	a, err := u.handshake(ctx, c, version)
	if err != nil {
		return nil, err
	}
	u.withLock(func() { u.inForce = a.declared })
	return a.session, nil
}

// Start connects in the background, and reconnects until ctx is done or Close is called. It returns
// immediately.
func (u *Upstream) Start(ctx context.Context) {
	u.startOnce.Do(func() {
		u.ctx, u.cancel = context.WithCancel(ctx)
		go u.supervise(u.ctx)
	})
}

// Close ends the connection and, if the upstream is a child process, all its processes. It waits
// until they have ended. In-flight requests get their replies before Close returns.
func (u *Upstream) Close() error {
	u.startOnce.Do(func() { close(u.finished) }) // Start was never called
	if u.cancel != nil {
		u.cancel()
	}
	<-u.finished
	return nil
}

const (
	defaultMaxMessage     = 64 << 20
	defaultConnectTimeout = 60 * time.Second
)
