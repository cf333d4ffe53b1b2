package proxy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

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
	asks atomic.Bool // the server asks clients, and so sessions that come are to have their own

	mu sync.Mutex
	of map[*session]*upstreamState // a branch, or the trunk

	own share // of those that are branches
}

// isolates reports whether a session that comes now does not share the trunk.
func (u *upstreamState) isolates(a agent) bool {
	switch u.config.Isolation {
	case IsolateSession:
		return true
	case IsolateShared:
		return false
	}
	return u.branches.asks.Load() && string(a.relayed()) != "{}"
}

// place is where the requests of a session to the trunk u are served, from now
// on. It may be starting.
func (p *Proxy) place(s *session, u *upstreamState, a agent) (*upstreamState, error) {
	if u.config.Isolation == IsolateShared {
		return u, nil
	}
	b := &u.branches
	b.mu.Lock()
	defer b.mu.Unlock()
	at := b.of[s]
	switch {
	case at != nil:
		at.used.Store(p.now().UnixNano())
		return at, nil
	case s.over.Load():
		return nil, errSessionOver
	case p.ctx.Err() != nil:
		return nil, errProxyEnds
	case !u.isolates(a):
		at = u
	default:
		if err := u.takeBranch(s, p.several.Load()); err != nil {
			return nil, err
		}
		at = p.branch(s, u, a)
	}
	if b.of == nil {
		b.of = map[*session]*upstreamState{}
	}
	b.of[s] = at
	return at, nil
}

// takeBranch counts a branch for the session, or says why it gets none.
func (u *upstreamState) takeBranch(s *session, several bool) error {
	limit, kind, name := u.config.maxBranches(), u.config.kind(), u.config.Name
	switch own, ok := u.branches.own.take(s.principal, limit, several); {
	case ok:
		return nil
	case own == limit || own == 0 || !several:
		return fmt.Errorf("%d sessions have a %s of %s for themselves, and no more are allowed (limits.sessions)", limit, kind, name)
	default:
		return fmt.Errorf("%d of the %d sessions that may have a %s of %s for themselves (limits.sessions) are yours, and what is left is for others", own, limit, kind, name)
	}
}

func (c Upstream) kind() string {
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
func (p *Proxy) branch(s *session, u *upstreamState, a agent) *upstreamState {
	b := newUpstreamState(u.config, u.several)
	b.trunk, b.session, b.closed = u, s, make(chan struct{})
	b.used.Store(p.now().UnixNano())
	p.connect(b)
	b.Prefer(a.rev)
	b.Intend(a.relayed())
	p.log.Info("a session has an upstream for itself", "upstream", u.config.Name, "session", s.id)
	b.Start(p.ctx)
	p.background(func() { p.sweep(b) })
	return b
}

// at is where s is served by the trunk u, as far as that is decided; nil: it
// is not.
func (u *upstreamState) at(s *session, a agent) *upstreamState {
	b := &u.branches
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

// serves reports whether the requests of c go to u.
func (u *upstreamState) serves(c *client) bool {
	if u.trunk != nil {
		return u.session == c.session
	}
	return u.at(c.session, c.handshaken()) == u
}

// settleDown keeps a session where it is: it was asked something from there.
func (u *upstreamState) settleDown(s *session) {
	if u.trunk != nil || u.config.Isolation == IsolateShared {
		return
	}
	b := &u.branches
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of == nil {
		b.of = map[*session]*upstreamState{}
	}
	if b.of[s] == nil && !s.over.Load() {
		b.of[s] = u
	}
}

// leave ends what a session had for itself.
func (p *Proxy) leave(s *session) {
	s.over.Store(true)
	for _, u := range p.upstreams {
		if branch := u.forget(s); branch != nil {
			p.endBranch(branch)
		}
	}
}

// forget takes the session away from u; the branch that it had is to be ended.
func (u *upstreamState) forget(s *session) (branch *upstreamState) {
	b := &u.branches
	b.mu.Lock()
	defer b.mu.Unlock()
	at := b.of[s]
	delete(b.of, s)
	if at == nil || at == u {
		return nil
	}
	b.own.give(s.principal)
	return at
}

// endBranch ends the processes of a branch. Where the proxy itself ends, nobody
// else waits for it.
func (p *Proxy) endBranch(b *upstreamState) {
	end := func() {
		_ = b.Close()
		close(b.closed)
		p.ended(b)
	}
	if !p.background(end) {
		end()
	}
}

// all is u and its branches.
func (u *upstreamState) all() []*upstreamState {
	list := []*upstreamState{u}
	b := &u.branches
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, at := range b.of {
		if at != u {
			list = append(list, at)
		}
	}
	return list
}

// connections are the upstreams with all their branches.
func (p *Proxy) connections() (list []*upstreamState) {
	for _, u := range p.upstreams {
		list = append(list, u.all()...)
	}
	return list
}

// connectionsOf are where a client is served now.
func (p *Proxy) connectionsOf(c *client) (list []*upstreamState) {
	a := c.speaker(wire.Meta{})
	for _, u := range p.upstreams {
		if at := u.at(c.session, a); at != nil {
			list = append(list, at)
		}
	}
	return list
}

// placed is place with the wait for a branch that is starting.
func (p *Proxy) placed(ctx context.Context, c *client, a agent, u *upstreamState) (*upstreamState, error) {
	if u.trunk != nil {
		return u, nil
	}
	at, err := p.place(c.session, u, a)
	if err == nil && at != u {
		at.ready(ctx, a)
	}
	return at, err
}

// ready waits until a branch has come up, or is known to be down, and knows
// what the client can do.
func (u *upstreamState) ready(ctx context.Context, a agent) {
	select {
	case <-u.settled:
	case <-ctx.Done():
		return
	}
	if !u.Declares(a.relayed()) && u.State().Phase == upstream.Up {
		u.Declare(ctx, a.relayed())
	}
}

// place puts the call where its session is served. It reports false where that
// takes time, or cannot be: then the call is served aside, or is answered.
func (t *toolCall) place() bool {
	p, trunk := t.proxy, t.tool.upstream
	if trunk.trunk != nil {
		return true
	}
	at, err := p.place(t.client.session, trunk, t.agent)
	if err != nil {
		r := plainRefusal("unavailable", fmt.Sprintf("%s was not called and nothing was spent: %v. End a session that is not used any more, or try again later.", t.tool.exposed, err))
		p.recordRefusal(t, r)
		t.answer(r)
		return false
	}
	if at == trunk {
		return true
	}
	own := *t.tool
	own.upstream = at
	t.tool = &own
	if !at.starting() && at.Declares(t.agent.relayed()) {
		return true
	}
	t.waitAside(func() {
		ctx, cancel := context.WithTimeout(t.ctx, p.startupLimit)
		defer cancel()
		at.ready(ctx, t.agent)
		p.serve(t)
	})
	return false
}

// unattributed refuses a question of which it is not sure whose it is.
func (p *Proxy) unattributed(u *upstreamState, q *upstream.ServerRequest) {
	text := "it cannot be told which client this is for"
	switch u.config.Isolation {
	case IsolateShared:
		text += ": the clients share this server (isolation: shared)"
	case IsolateSession:
		text = "there is no client here, but for lists (isolation: session)"
	default:
		text += "; sessions that begin now have a " + u.config.kind() + " of their own"
	}
	p.log.Warn("question of an upstream refused", "upstream", u.config.Name, "method", q.Method, "reason", text)
	q.Refuse(codeInternal, text)
}

// rest ends a branch of clients without sessions that nobody has used for long.
// It reports whether it did.
func (p *Proxy) rest(b *upstreamState, now time.Time) bool {
	if b.session.by == "connection" || len(b.flights.all()) > 0 || p.busy(b) || !b.trunk.dismiss(b, now.Add(-branchIdle)) {
		return false
	}
	p.endBranch(b)
	return true
}

// dismiss forgets a branch of u that was not used since. A request that is
// placed there meanwhile uses it.
func (u *upstreamState) dismiss(branch *upstreamState, since time.Time) bool {
	b := &u.branches
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of[branch.session] != branch || branch.used.Load() > since.UnixNano() {
		return false
	}
	delete(b.of, branch.session)
	b.own.give(branch.session.principal)
	return true
}

// knownIsolation reports whether s is a word for how an upstream is shared.
func knownIsolation(s string) bool {
	return slices.Contains([]string{"", IsolateAuto, IsolateSession, IsolateShared}, s)
}
