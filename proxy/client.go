package proxy

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/events"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A stream carries messages to a client in the order in which they are sent:
// any number of notifications and requests of ours, and one reply to the
// request that it belongs to. The parts of one whole message are not kept.
type stream interface {
	Send(parts ...[]byte)
	Reply(parts ...[]byte)
}

// A session is what calls share: the state of the nets. Several clients of
// one principal can have one.
type session struct {
	id        string
	principal string
	by        string // connection or principal
	since     time.Time
	gate      *gate.Session
	shadowed  tally
	over      atomic.Bool // nothing begins in it any more
	narrowed  atomic.Bool // a client was shown just the tools that its nets let pass

	offering sync.Mutex               // held while the gate is told of other tools
	offered  atomic.Pointer[toolView] // the tools that its gate knows of
}

// knowing is the gate of the session, told which tools there are.
func (s *session) knowing(view *toolView) *gate.Session {
	if s.offered.Load() != view {
		s.offering.Lock() // so that what is stored is what was offered last
		defer s.offering.Unlock()
		s.gate.Offer(view.calls)
		s.offered.Store(view)
	}
	return s.gate
}

// A client is one conversation with an MCP client: a stdio connection, a
// server-issued session of the 2025 era, or one stateless request.
type client struct {
	id        string
	transport string // stdio or http
	principal string
	session   *session
	since     time.Time
	out       stream // for what belongs to no request; may drop

	leveled *atomic.Bool // some client has asked for a level of log messages

	seen time.Time // last used; guarded by the lock of the proxy

	streams events.Logs // of a session over HTTP

	mu            sync.Mutex
	agent         agent // of the handshake
	initialized   bool
	listed        map[string]bool // it has seen the list of which this tells changes
	logLevel      string
	calls         map[string]canceller     // by the id on the wire
	open          int                      // requests whose answer is not written yet
	idle          chan struct{}            // closed when there are none; nil: nobody waits for that
	questions     map[string]*question     // that wait for an answer, by id
	gone          bool                     // nobody answers any more
	subscriptions map[string]*subscription // of revision 2026-07-28, by the id on the wire
	watched       map[string]bool          // resources, of clients with a handshake
}

// agent is what a client says about itself, in its handshake or, since
// 2026-07-28, with each request.
type agent struct {
	name, version string // for people to read; nobody vouches for them
	protocol      string
	modern        bool
	elicit        bool   // it declared that it can show a form
	capabilities  []byte // as it declared them
}

// A canceller is a request of a client that has not been answered.
type canceller interface {
	cancel(reason error)
}

// cancelFunc cancels a request that is no tool call.
type cancelFunc context.CancelCauseFunc

func (f cancelFunc) cancel(reason error) { f(reason) }

func (p *Proxy) newClient(transport, principal string, s *session, out stream) *client {
	now := p.options.Now()
	c := &client{
		id: randomID(""), transport: transport, principal: principal, session: s, out: out, since: now, seen: now, leveled: &p.leveled,
		calls: map[string]canceller{}, questions: map[string]*question{}, subscriptions: map[string]*subscription{},
		streams: events.Logs{Budget: &p.streams, Principal: principal},
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clients[c.id] = c
	return c
}

// dropClient forgets c; its calls are cancelled, and its session ends with it
// unless the session belongs to the principal.
func (p *Proxy) dropClient(c *client) {
	p.mu.Lock()
	delete(p.clients, c.id)
	if c.session.by == "connection" {
		delete(p.sessions, c.session.id)
	}
	p.mu.Unlock()
	p.advisor.forget(c)
	c.mu.Lock()
	watched, leveled := len(c.watched) > 0, c.initialized && p.leveled.Load()
	calls := make([]canceller, 0, len(c.calls))
	for _, call := range c.calls {
		calls = append(calls, call)
	}
	c.mu.Unlock()
	for _, call := range calls {
		call.cancel(errGone)
	}
	c.unanswered()
	if c.session.by == "connection" {
		p.tasks.forget(c.session)
		p.leave(c.session)
	}
	if watched {
		p.background(p.rewatch)
	}
	if leveled {
		p.background(func() { p.relevel(p.ctx) })
	}
}

func (p *Proxy) newSession(by, principal string) *session {
	s := &session{id: randomID("")[:12], principal: principal, by: by, since: p.options.Now()}
	p.registry.session(principal, gate.SessionOptions{Time: s.since}, func(g *gate.Session) {
		s.gate = g
		p.mu.Lock()
		defer p.mu.Unlock()
		p.sessions[s.id] = s
	})
	return s
}

// sessionOf is the one session of a principal whose requests carry no session.
// Finding and making it is one step: two would be two budgets.
func (p *Proxy) sessionOf(principal string) *session {
	if s := p.knownSession(principal); s != nil {
		return s
	}
	p.making.Lock()
	defer p.making.Unlock()
	if s := p.knownSession(principal); s != nil {
		return s
	}
	s := p.newSession("principal", principal)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.principals[principal] = s
	return s
}

func (p *Proxy) knownSession(principal string) *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.principals[principal]
}

// begin notes a request under its id. It fails where that id is in flight.
func (c *client) begin(id string, request canceller) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, busy := c.calls[id]; busy {
		return false
	}
	c.calls[id] = request
	c.open++
	return true
}

// answered notes that the answer to a request is written, or that there is none.
func (c *client) answered() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open > 0 {
		c.open--
	}
	if c.open == 0 && c.idle != nil {
		close(c.idle)
		c.idle = nil
	}
}

// drained is closed when every request has its answer.
func (c *client) drained() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	idle := make(chan struct{})
	if c.open == 0 {
		close(idle)
	} else {
		c.idle = idle
	}
	return idle
}

func (c *client) end(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.calls, id)
}

// An ending stream is that of a request which is over before its answer is
// written: whoever has read that may use the id again.
type ending struct {
	stream
	end func()
}

func (s ending) Reply(parts ...[]byte) {
	s.end()
	s.stream.Reply(parts...)
}

// cancelled acts on notifications/cancelled: the id must be the very one of
// the request, so that the string "7" does not cancel the number 7.
func (c *client) cancelled(params []byte) {
	id, ok := rawjson.Member(params, "requestId")
	if !ok {
		return
	}
	c.mu.Lock()
	call := c.calls[wire.IDKey(id)]
	c.mu.Unlock()
	if call == nil {
		return
	}
	if reason := member(params, "reason"); reason != "" {
		call.cancel(withdrawal(reason))
		return
	}
	call.cancel(errCancelled)
}

// A withdrawal is [errCancelled] with the client's own reason, which is for the
// upstream to know.
type withdrawal string

func (w withdrawal) Error() string        { return string(w) }
func (w withdrawal) Is(target error) bool { return target == errCancelled }

// brief is a name that is kept as it is, unless it is too long for a record.
func brief(name string) string {
	if len(name) <= maxRecordedText {
		return name
	}
	return recorded(name)
}

// handshake notes what a client says in initialize.
func (c *client) handshake(params []byte, protocol string) {
	a := agent{protocol: protocol}
	if info, ok := rawjson.Member(params, "clientInfo"); ok {
		a.name, a.version = brief(member(info, "name")), brief(member(info, "version"))
	}
	if capabilities, ok := rawjson.Member(params, "capabilities"); ok {
		a.declared(capabilities)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.agent = a
}

// speaker is the agent behind one request: what the request says of itself
// since 2026-07-28, or else what the handshake said.
func (c *client) speaker(m wire.Meta) agent {
	if !m.Modern() {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.agent
	}
	return agent{
		name: brief(member(m.ClientInfo, "name")), version: brief(member(m.ClientInfo, "version")),
		protocol: m.ProtocolVersion, modern: true, elicit: canElicit(m.ClientCapabilities),
		capabilities: m.ClientCapabilities,
	}
}

func member(obj []byte, key string) string {
	v, _ := rawjson.Member(obj, key)
	s, _ := rawjson.String(v)
	return s
}
