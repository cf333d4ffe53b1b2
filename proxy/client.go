package proxy

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/serve/audit"
	"github.com/petrigate/petrigate/proxy/internal/events"
	"github.com/petrigate/petrigate/proxy/internal/rev"
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
	over      atomic.Bool // nothing begins in it any more
	narrowed  atomic.Bool // a client was shown just the tools that its nets let pass
}

// A client is one conversation with an MCP client: a stdio connection, a
// server-issued session of 2025-11-25, or one stateless request.
type client struct {
	id        string
	transport string // stdio or http
	principal string
	session   *session
	since     time.Time
	out       stream // for what belongs to no request; may drop

	leveled *atomic.Bool // some client has asked for a level of log messages

	seen time.Time // last used; guarded by the lock of [sessions]

	streams   events.Logs  // of a session over HTTP
	requests  openRequests // of the client
	questions questions    // to the client
	interests interests

	mu          sync.Mutex
	agent       agent  // of the handshake
	initialized bool   // it has sent notifications/initialized
	logLevel    string // of logging/setLevel; empty: it has not asked
}

// agent is what a client says about itself, in its handshake or, since
// 2026-07-28, with each request.
type agent struct {
	name, version string // for people to read; nobody vouches for them
	protocol      string
	rev           *rev.Rev
	elicit        bool   // it declared that it can show a form
	capabilities  []byte // as it declared them
}

// brief is a name that is kept as it is, unless it is too long for a record.
func brief(name string) string {
	if len(name) <= audit.MaxText {
		return name
	}
	return audit.Bounded(name)
}

// handshake notes what a client says in initialize.
func (c *client) handshake(params []byte, protocol string) {
	a := agent{protocol: protocol, rev: rev.Rev2025}
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

// ready reports whether the client has sent notifications/initialized.
func (c *client) ready() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.initialized
}

// initialize notes notifications/initialized.
func (c *client) initialize() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.initialized = true
}

// handshaken is the agent of the handshake.
func (c *client) handshaken() agent {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.agent
}

// setLogLevel notes logging/setLevel.
func (c *client) setLogLevel(level string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.logLevel = level
}

// askedLevel is the level of logging/setLevel; empty: the client has not asked.
func (c *client) askedLevel() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.logLevel
}

// unasked is the level of a client that has not asked for one, once another
// has: without us its server would have decided, and most begin there.
const unasked = "info"

// level is the least level of log messages that a client with a handshake wants;
// empty: it has no handshake, or all that there are.
func (c *client) level() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.logLevel == "" && c.initialized && c.leveled.Load() {
		return unasked
	}
	return c.logLevel
}

// speaker is the agent behind one request: what the request says of itself
// since 2026-07-28, or else what the handshake said.
func (c *client) speaker(m wire.Meta) agent {
	if !rev.Of(m).PerRequest {
		return c.handshaken()
	}
	return agent{
		name: brief(member(m.ClientInfo, "name")), version: brief(member(m.ClientInfo, "version")),
		protocol: m.ProtocolVersion, rev: rev.Rev2026, elicit: canElicit(m.ClientCapabilities),
		capabilities: m.ClientCapabilities,
	}
}

func member(obj []byte, key string) string {
	v, _ := rawjson.Member(obj, key)
	s, _ := rawjson.String(v)
	return s
}
