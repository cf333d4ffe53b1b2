package pool

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/quota"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wait"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A server that uses revision 2025-11-25 can store a client's state in its process, and can send
// requests that belong to no call and name no client. A session can therefore have a dedicated
// connection: a process or an HTTP session of its own. The connection starts with the session's
// first call to the server and ends with the session. Lists are still requested on the shared
// connection.

// dedicatedIdle is how long a dedicated connection for clients without sessions may stay unused
// before it is closed.
const dedicatedIdle = 30 * time.Minute

var (
	errSessionOver = errors.New("the session has ended")
	errProxyEnds   = errors.New("the proxy is stopping")
)

// A placement maps each session to the connection that serves it. mu guards the map.
type placement struct {
	asks atomic.Bool // whether the server sends requests to clients; see [IsolateAuto]

	mu sync.Mutex
	of map[*session.Session]*Server // shared or dedicated connection per session

	quota quota.Quota // limits the number of dedicated connections
}

// DedicateNext records that the server has sent a request to a client outside the response stream
// of a call. If u is the shared connection and its isolation is "auto" (the default), later
// sessions can then get dedicated connections; see [IsolateAuto]. In that case, DedicateNext
// returns true for the first such request.
func (u *Server) DedicateNext() bool {
	auto := u.Config.Isolation == "" || u.Config.Isolation == IsolateAuto
	return !u.Dedicated() && auto && !u.placement.asks.Swap(true)
}

// dedicates reports whether a new session must have a dedicated connection.
func (u *Server) dedicates(peer session.Peer) bool {
	switch u.Config.Isolation {
	case IsolateSession:
		return true
	case IsolateShared:
		return false
	}
	return u.placement.asks.Load() && string(peer.Forwarded()) != "{}"
}

// Place returns the connection for the session s: the shared connection u or a dedicated one, which
// may still be starting.
func (p *Pool) Place(s *session.Session, u *Server, peer session.Peer) (*Server, error) {
	if u.Config.Isolation == IsolateShared || u.shared != nil {
		return u, nil
	}
	pl := &u.placement
	pl.mu.Lock()
	defer pl.mu.Unlock()
	at := pl.of[s]
	switch {
	case at != nil:
		at.used.Store(p.Life.Now().UnixNano())
		return at, nil
	case s.Ended.Load():
		return nil, errSessionOver
	case p.Life.Ctx.Err() != nil:
		return nil, errProxyEnds
	case !u.dedicates(peer):
		at = u
	default:
		if err := u.takeDedicated(s, p.Sessions.SeveralPrincipals.Load()); err != nil {
			return nil, err
		}
		at = p.dedicate(s, u, peer)
	}
	pl.of[s] = at
	return at, nil
}

// takeDedicated increments the number of dedicated connections of the session's principal. It
// returns an error if the limit has been reached.
func (u *Server) takeDedicated(s *session.Session, several bool) error {
	limit, kind, name := u.Config.maxDedicated(), u.Config.Kind(), u.Config.Name
	switch own, ok := u.placement.quota.Take(s.Principal, limit, several); {
	case ok:
		return nil
	case own == limit || own == 0 || !several:
		return fmt.Errorf("%d sessions have their own %s of %s, the maximum (limits.sessions)", limit, kind, name)
	default:
		return fmt.Errorf("%d of the %d sessions that can have their own %s of %s (limits.sessions) are yours, and the rest are reserved for others", own, limit, kind, name)
	}
}

// dedicate starts a dedicated connection to u's server for the session.
func (p *Pool) dedicate(s *session.Session, u *Server, peer session.Peer) *Server {
	d := NewServer(u.Config, u.several)
	d.shared, d.Session, d.closed = u, s, make(chan struct{})
	d.used.Store(p.Life.Now().UnixNano())
	p.Connect(d)
	d.Intend(peer.Rev, peer.Forwarded())
	p.Life.Log.Info("a session has its own upstream connection", "upstream", u.Config.Name, "session", s.ID)
	d.Start(p.Life.Ctx)
	p.Life.Background(func() { p.Sweep(d) })
	return d
}

// ConnectionOf returns the connection that serves the session s. It returns nil if the session's
// first call will start a dedicated connection.
func (u *Server) ConnectionOf(s *session.Session, peer session.Peer) *Server {
	pl := &u.placement
	pl.mu.Lock()
	defer pl.mu.Unlock()
	if at := pl.of[s]; at != nil {
		return at
	}
	if u.dedicates(peer) {
		return nil
	}
	return u
}

// Serves reports whether the client's session uses the connection u.
func (u *Server) Serves(c *session.Client) bool {
	if u.Dedicated() {
		return u.Session == c.Session
	}
	return u.ConnectionOf(c.Session, c.Peer()) == u
}

// Pin binds the session to the shared connection u, because the client has received a request from
// that connection.
func (u *Server) Pin(s *session.Session) {
	if u.Dedicated() || u.Config.Isolation == IsolateShared {
		return
	}
	pl := &u.placement
	pl.mu.Lock()
	defer pl.mu.Unlock()
	if pl.of[s] == nil && !s.Ended.Load() {
		pl.of[s] = u
	}
}

// Release removes the session from its connection. It returns the session's dedicated connection,
// which the caller must close, or nil if the session used the shared one.
func (u *Server) Release(s *session.Session) (d *Server) {
	pl := &u.placement
	pl.mu.Lock()
	defer pl.mu.Unlock()
	at := pl.of[s]
	delete(pl.of, s)
	if at == nil || at == u {
		return nil
	}
	pl.quota.Give(s.Principal, 1)
	return at
}

// EndDedicated closes a dedicated connection in the background. If the proxy is shutting down,
// EndDedicated waits until the connection is closed.
func (p *Pool) EndDedicated(d *Server) {
	end := func() {
		_ = d.Close()
		close(d.closed)
		p.Ended(d)
	}
	if !p.Life.Background(end) {
		end()
	}
}

// Connections returns u and all dedicated connections to its server.
func (u *Server) Connections() []*Server {
	list := []*Server{u}
	pl := &u.placement
	pl.mu.Lock()
	defer pl.mu.Unlock()
	for _, at := range pl.of {
		if at != u {
			list = append(list, at)
		}
	}
	return list
}

// Connections returns all connections to all servers.
func (p *Pool) Connections() (list []*Server) {
	for _, u := range p.Servers {
		list = append(list, u.Connections()...)
	}
	return list
}

// ConnectionsOf returns the connections that serve the client now, at most one per server.
func (p *Pool) ConnectionsOf(c *session.Client) (list []*Server) {
	peer := c.PeerOf(wire.Meta{})
	for _, u := range p.Servers {
		if at := u.ConnectionOf(c.Session, peer); at != nil {
			list = append(list, at)
		}
	}
	return list
}

// PlaceAndWait is like [Pool.Place], but waits for a dedicated connection to start.
func (p *Pool) PlaceAndWait(ctx context.Context, c *session.Client, peer session.Peer, u *Server) (*Server, error) {
	at, err := p.Place(c.Session, u, peer)
	if err == nil && at != u {
		at.AwaitReady(ctx, peer)
	}
	return at, err
}

// AwaitReady waits until a dedicated connection is up and its server knows the client's
// capabilities, or until the server is known to be down.
func (u *Server) AwaitReady(ctx context.Context, peer session.Peer) {
	if wait.For(ctx, u.started) && !u.Declares(peer.Forwarded()) && u.State().Phase == upstream.Up {
		u.Intend(peer.Rev, peer.Forwarded())
		u.Declare(ctx, peer.Forwarded())
	}
}

// endUnused closes a dedicated connection for clients without sessions after it has been unused for
// [dedicatedIdle]. It reports whether it has closed the connection.
func (p *Pool) endUnused(d *Server, now time.Time) bool {
	if d.Session.By == "connection" || len(d.InFlight.All()) > 0 || p.Busy(d) || !d.shared.releaseUnused(d, now.Add(-dedicatedIdle)) {
		return false
	}
	p.EndDedicated(d)
	return true
}

// releaseUnused removes the session from the dedicated connection d. It returns false if d has been
// used since the given time, or no longer serves the session.
func (u *Server) releaseUnused(d *Server, since time.Time) bool {
	pl := &u.placement
	pl.mu.Lock()
	defer pl.mu.Unlock()
	if pl.of[d.Session] != d || d.used.Load() > since.UnixNano() {
		return false
	}
	delete(pl.of, d.Session)
	pl.quota.Give(d.Session.Principal, 1)
	return true
}

// Sweep periodically abandons calls to u that have timed out. If u is a dedicated connection for
// clients without sessions and has been unused for too long, Sweep closes it. Sweep returns when
// the proxy shuts down or the connection ends.
func (p *Pool) Sweep(u *Server) {
	timeout := u.Config.Timeout
	tick := time.NewTicker(min(maxSweep, timeout/8+1))
	defer tick.Stop()
	for {
		select {
		case <-p.Life.Ctx.Done():
			return
		case <-u.closed:
			return
		case <-tick.C:
			now := p.Life.Now()
			if u.Dedicated() && p.endUnused(u, now) {
				return
			}
			for _, f := range u.InFlight.All() {
				switch {
				case !f.SentAt.Before(now.Add(-timeout)):
				case f.Request.Holding():
					u.InFlight.restartTimeout(f, now)
				default:
					u.InFlight.Remove(f)
					f.Request.Abandon(fmt.Errorf("no answer within %s", timeout))
				}
			}
		}
	}
}

// maxSweep is the maximum delay between a timeout and its detection.
const maxSweep = time.Second

// EnsureDeclared calls [Pool.Declare] if a client that uses revision 2026-07-28 has capabilities
// that have not been declared to the servers. Such a client sends its capabilities in each request
// and may never send server/discover.
func (p *Pool) EnsureDeclared(ctx context.Context, peer session.Peer) {
	if !peer.Rev.PerRequest {
		return // already declared when the client sent initialize
	}
	capabilities := peer.Forwarded()
	for _, u := range p.Servers {
		if !u.Declares(capabilities) {
			p.Declare(ctx, peer)
			return
		}
	}
}

// Declare declares the client's capabilities to all servers that use revision 2025-11-25, and waits
// until the servers have listed the tools that they offer to clients with these capabilities.
func (p *Pool) Declare(ctx context.Context, peer session.Peer) {
	for _, u := range p.Servers {
		u.Intend(peer.Rev, peer.Forwarded())
	}
	p.AwaitList(ctx) // wait first, because a server that has just started may have to restart for new capabilities
	ctx, cancel := context.WithTimeout(ctx, p.StartupLimit)
	defer cancel()
	var all sync.WaitGroup
	for _, u := range p.Servers {
		all.Go(func() {
			u.Declare(ctx, peer.Forwarded())
			u.Listing.await(ctx) // the client must see the tools that depend on its capabilities
		})
	}
	all.Wait()
}
