package pool

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// What a server of 2025-11-25 asks outside a request does not say which client it is
// for, and state that it keeps for one client it keeps for its process. So a session can
// have a dedicated connection: a process, or a session over HTTP, of its own. It begins
// with the first call of the session there and ends with the session. The shared
// connection stays, for the lists.

// dedicatedIdle is how long a dedicated connection of clients without sessions may be
// unused before it ends.
const dedicatedIdle = 30 * time.Minute

var (
	errSessionOver = errors.New("the session is over")
	errProxyEnds   = errors.New("the proxy is ending")
)

// branches say where the sessions are served.
type placement struct {
	asks atomic.Bool // the server asks clients, and so sessions that come are to have their own

	mu sync.Mutex
	of map[*session.Session]*Server // a branch, or the trunk

	quota session.Quota // of those that are branches
}

// DedicateNext notes that the server asks clients, so that sessions that begin now get
// a dedicated connection if the configuration leaves the choice (isolation: auto). It
// reports whether that is news.
func (u *Server) DedicateNext() bool {
	auto := u.Config.Isolation == "" || u.Config.Isolation == IsolateAuto
	return !u.Dedicated() && auto && !u.placement.asks.Swap(true)
}

// isolates reports whether a session that comes now does not share the trunk.
func (u *Server) dedicates(peer session.Peer) bool {
	switch u.Config.Isolation {
	case IsolateSession:
		return true
	case IsolateShared:
		return false
	}
	return u.placement.asks.Load() && string(peer.Forwarded()) != "{}"
}

// Place is where the requests of a session to the trunk u are served, from now
// on. It may be starting.
func (p *Pool) Place(s *session.Session, u *Server, peer session.Peer) (*Server, error) {
	if u.Config.Isolation == IsolateShared {
		return u, nil
	}
	b := &u.placement
	b.mu.Lock()
	defer b.mu.Unlock()
	at := b.of[s]
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
	if b.of == nil {
		b.of = map[*session.Session]*Server{}
	}
	b.of[s] = at
	return at, nil
}

// takeBranch counts a branch for the session, or says why it gets none.
func (u *Server) takeDedicated(s *session.Session, several bool) error {
	limit, kind, name := u.Config.maxDedicated(), u.Config.Kind(), u.Config.Name
	switch own, ok := u.placement.quota.Take(s.Principal, limit, several); {
	case ok:
		return nil
	case own == limit || own == 0 || !several:
		return fmt.Errorf("%d sessions have a %s of %s for themselves, and no more are allowed (limits.sessions)", limit, kind, name)
	default:
		return fmt.Errorf("%d of the %d sessions that may have a %s of %s for themselves (limits.sessions) are yours, and what is left is for others", own, limit, kind, name)
	}
}

// branch starts an upstream like u for one session.
func (p *Pool) dedicate(s *session.Session, u *Server, peer session.Peer) *Server {
	b := NewServer(u.Config, u.several)
	b.shared, b.Session, b.closed = u, s, make(chan struct{})
	b.used.Store(p.Life.Now().UnixNano())
	p.Connect(b)
	b.Prefer(peer.Rev)
	b.Intend(peer.Forwarded())
	p.Life.Log.Info("a session has an upstream for itself", "upstream", u.Config.Name, "session", s.ID)
	b.Start(p.Life.Ctx)
	p.Life.Background(func() { p.Sweep(b) })
	return b
}

// At is where s is served by the trunk u, as far as that is decided; nil: it
// is not.
func (u *Server) ConnectionOf(s *session.Session, peer session.Peer) *Server {
	b := &u.placement
	b.mu.Lock()
	defer b.mu.Unlock()
	if at := b.of[s]; at != nil {
		return at
	}
	if u.dedicates(peer) {
		return nil
	}
	return u
}

// Serves reports whether the requests of c go to u.
func (u *Server) Serves(c *session.Client) bool {
	if u.Dedicated() {
		return u.Session == c.Session
	}
	return u.ConnectionOf(c.Session, c.Peer()) == u
}

// SettleDown keeps a session where it is: it was asked something from there.
func (u *Server) Pin(s *session.Session) {
	if u.Dedicated() || u.Config.Isolation == IsolateShared {
		return
	}
	b := &u.placement
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of == nil {
		b.of = map[*session.Session]*Server{}
	}
	if b.of[s] == nil && !s.Ended.Load() {
		b.of[s] = u
	}
}

// Forget takes the session away from u; the branch that it had is to be ended.
func (u *Server) Release(s *session.Session) (branch *Server) {
	b := &u.placement
	b.mu.Lock()
	defer b.mu.Unlock()
	at := b.of[s]
	delete(b.of, s)
	if at == nil || at == u {
		return nil
	}
	b.quota.Give(s.Principal)
	return at
}

// EndBranch ends the processes of a branch. Where the proxy itself ends, nobody
// else waits for it.
func (p *Pool) EndDedicated(b *Server) {
	end := func() {
		_ = b.Close()
		close(b.closed)
		p.Ended(b)
	}
	if !p.Life.Background(end) {
		end()
	}
}

// All is u and its branches.
func (u *Server) Connections() []*Server {
	list := []*Server{u}
	b := &u.placement
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, at := range b.of {
		if at != u {
			list = append(list, at)
		}
	}
	return list
}

// Connections are the upstreams with all their branches.
func (p *Pool) Connections() (list []*Server) {
	for _, u := range p.Servers {
		list = append(list, u.Connections()...)
	}
	return list
}

// ConnectionsOf are where a client is served now.
func (p *Pool) ConnectionsOf(c *session.Client) (list []*Server) {
	peer := c.PeerOf(wire.Meta{})
	for _, u := range p.Servers {
		if at := u.ConnectionOf(c.Session, peer); at != nil {
			list = append(list, at)
		}
	}
	return list
}

// Placed is place with the wait for a branch that is starting.
func (p *Pool) PlaceAndWait(ctx context.Context, c *session.Client, peer session.Peer, u *Server) (*Server, error) {
	if u.Dedicated() {
		return u, nil
	}
	at, err := p.Place(c.Session, u, peer)
	if err == nil && at != u {
		at.AwaitReady(ctx, peer)
	}
	return at, err
}

// Ready waits until a branch has come up, or is known to be down, and knows
// what the client can do.
func (u *Server) AwaitReady(ctx context.Context, peer session.Peer) {
	select {
	case <-u.started:
	case <-ctx.Done():
		return
	}
	if !u.Declares(peer.Forwarded()) && u.State().Phase == upstream.Up {
		u.Declare(ctx, peer.Forwarded())
	}
}

// rest ends a branch of clients without sessions that nobody has used for long.
// It reports whether it did.
func (p *Pool) endUnused(b *Server, now time.Time) bool {
	if b.Session.By == "connection" || len(b.InFlight.All()) > 0 || p.Busy(b) || !b.shared.releaseUnused(b, now.Add(-dedicatedIdle)) {
		return false
	}
	p.EndDedicated(b)
	return true
}

// dismiss forgets a branch of u that was not used since. A request that is
// placed there meanwhile uses it.
func (u *Server) releaseUnused(branch *Server, since time.Time) bool {
	b := &u.placement
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of[branch.Session] != branch || branch.used.Load() > since.UnixNano() {
		return false
	}
	delete(b.of, branch.Session)
	b.quota.Give(branch.Session.Principal)
	return true
}
