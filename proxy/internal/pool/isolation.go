package pool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// What a server of 2025-11-25 asks on its own account does not say which
// client it is for, and what it keeps for one client it keeps for its process.
// So a session can have an upstream for itself: a branch of the one that all
// share, with a process (or a session over HTTP) of its own. It begins with the
// first call of the session there and ends with the session. The trunk stays,
// for the lists.

// The ways to share an upstream.
const (
	// IsolateAuto shares the upstream until it asks something of a client. That
	// goes to the client where it is sure which one it is for, and else is
	// refused; sessions that use the upstream first after that, and whose
	// clients can be asked, have it for themselves.
	IsolateAuto    = "auto"
	IsolateSession = "session" // each session has it for itself
	IsolateShared  = "shared"  // all share it
)

// Defaults of [Upstream].
const (
	defaultProcesses    = 64   // of an upstream that is started
	defaultHTTPSessions = 1000 // of one that listens
	branchIdle          = 30 * time.Minute
)

var (
	errSessionOver = errors.New("the session is over")
	errProxyEnds   = errors.New("the proxy is ending")
)

// branches say where the sessions are served.
type branches struct {
	Asks atomic.Bool // the server asks clients, and so sessions that come are to have their own

	mu sync.Mutex
	of map[*session.Session]*Server // a branch, or the trunk

	own session.Share // of those that are branches
}

// isolates reports whether a session that comes now does not share the trunk.
func (u *Server) isolates(a session.Peer) bool {
	switch u.Config.Isolation {
	case IsolateSession:
		return true
	case IsolateShared:
		return false
	}
	return u.Branches.Asks.Load() && string(a.Relayed()) != "{}"
}

// Place is where the requests of a session to the trunk u are served, from now
// on. It may be starting.
func (p *Pool) Place(s *session.Session, u *Server, a session.Peer) (*Server, error) {
	if u.Config.Isolation == IsolateShared {
		return u, nil
	}
	b := &u.Branches
	b.mu.Lock()
	defer b.mu.Unlock()
	at := b.of[s]
	switch {
	case at != nil:
		at.used.Store(p.Life.Now().UnixNano())
		return at, nil
	case s.Over.Load():
		return nil, errSessionOver
	case p.Life.Ctx.Err() != nil:
		return nil, errProxyEnds
	case !u.isolates(a):
		at = u
	default:
		if err := u.takeBranch(s, p.Sessions.Several.Load()); err != nil {
			return nil, err
		}
		at = p.branch(s, u, a)
	}
	if b.of == nil {
		b.of = map[*session.Session]*Server{}
	}
	b.of[s] = at
	return at, nil
}

// takeBranch counts a branch for the session, or says why it gets none.
func (u *Server) takeBranch(s *session.Session, several bool) error {
	limit, kind, name := u.Config.maxBranches(), u.Config.Kind(), u.Config.Name
	switch own, ok := u.Branches.own.Take(s.Principal, limit, several); {
	case ok:
		return nil
	case own == limit || own == 0 || !several:
		return fmt.Errorf("%d sessions have a %s of %s for themselves, and no more are allowed (limits.sessions)", limit, kind, name)
	default:
		return fmt.Errorf("%d of the %d sessions that may have a %s of %s for themselves (limits.sessions) are yours, and what is left is for others", own, limit, kind, name)
	}
}

func (c Upstream) Kind() string {
	if c.Command != "" {
		return "process"
	}
	return "connection"
}

func (c Upstream) maxBranches() int {
	switch {
	case c.Limits.Sessions > 0:
		return c.Limits.Sessions
	case c.Command != "":
		return defaultProcesses
	}
	return defaultHTTPSessions
}

// branch starts an upstream like u for one session.
func (p *Pool) branch(s *session.Session, u *Server, a session.Peer) *Server {
	b := NewUpstreamState(u.Config, u.several)
	b.Trunk, b.Session, b.closed = u, s, make(chan struct{})
	b.used.Store(p.Life.Now().UnixNano())
	p.Connect(b)
	b.Prefer(a.Rev)
	b.Intend(a.Relayed())
	p.Life.Log.Info("a session has an upstream for itself", "upstream", u.Config.Name, "session", s.ID)
	b.Start(p.Life.Ctx)
	p.Life.Background(func() { p.Sweep(b) })
	return b
}

// At is where s is served by the trunk u, as far as that is decided; nil: it
// is not.
func (u *Server) At(s *session.Session, a session.Peer) *Server {
	b := &u.Branches
	b.mu.Lock()
	defer b.mu.Unlock()
	if at := b.of[s]; at != nil {
		return at
	}
	if u.isolates(a) {
		return nil
	}
	return u
}

// Serves reports whether the requests of c go to u.
func (u *Server) Serves(c *session.Client) bool {
	if u.Trunk != nil {
		return u.Session == c.Session
	}
	return u.At(c.Session, c.Handshaken()) == u
}

// SettleDown keeps a session where it is: it was asked something from there.
func (u *Server) SettleDown(s *session.Session) {
	if u.Trunk != nil || u.Config.Isolation == IsolateShared {
		return
	}
	b := &u.Branches
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of == nil {
		b.of = map[*session.Session]*Server{}
	}
	if b.of[s] == nil && !s.Over.Load() {
		b.of[s] = u
	}
}

// Forget takes the session away from u; the branch that it had is to be ended.
func (u *Server) Forget(s *session.Session) (branch *Server) {
	b := &u.Branches
	b.mu.Lock()
	defer b.mu.Unlock()
	at := b.of[s]
	delete(b.of, s)
	if at == nil || at == u {
		return nil
	}
	b.own.Give(s.Principal)
	return at
}

// EndBranch ends the processes of a branch. Where the proxy itself ends, nobody
// else waits for it.
func (p *Pool) EndBranch(b *Server) {
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
func (u *Server) All() []*Server {
	list := []*Server{u}
	b := &u.Branches
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
		list = append(list, u.All()...)
	}
	return list
}

// ConnectionsOf are where a client is served now.
func (p *Pool) ConnectionsOf(c *session.Client) (list []*Server) {
	a := c.Speaker(wire.Meta{})
	for _, u := range p.Servers {
		if at := u.At(c.Session, a); at != nil {
			list = append(list, at)
		}
	}
	return list
}

// Placed is place with the wait for a branch that is starting.
func (p *Pool) Placed(ctx context.Context, c *session.Client, a session.Peer, u *Server) (*Server, error) {
	if u.Trunk != nil {
		return u, nil
	}
	at, err := p.Place(c.Session, u, a)
	if err == nil && at != u {
		at.Ready(ctx, a)
	}
	return at, err
}

// Ready waits until a branch has come up, or is known to be down, and knows
// what the client can do.
func (u *Server) Ready(ctx context.Context, a session.Peer) {
	select {
	case <-u.settled:
	case <-ctx.Done():
		return
	}
	if !u.Declares(a.Relayed()) && u.State().Phase == upstream.Up {
		u.Declare(ctx, a.Relayed())
	}
}

// rest ends a branch of clients without sessions that nobody has used for long.
// It reports whether it did.
func (p *Pool) rest(b *Server, now time.Time) bool {
	if b.Session.By == "connection" || len(b.Flights.All()) > 0 || p.Busy(b) || !b.Trunk.dismiss(b, now.Add(-branchIdle)) {
		return false
	}
	p.EndBranch(b)
	return true
}

// dismiss forgets a branch of u that was not used since. A request that is
// placed there meanwhile uses it.
func (u *Server) dismiss(branch *Server, since time.Time) bool {
	b := &u.Branches
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of[branch.Session] != branch || branch.used.Load() > since.UnixNano() {
		return false
	}
	delete(b.of, branch.Session)
	b.own.Give(branch.Session.Principal)
	return true
}

// KnownIsolation reports whether s is a word for how an upstream is shared.
func KnownIsolation(s string) bool {
	return slices.Contains([]string{"", IsolateAuto, IsolateSession, IsolateShared}, s)
}
