package session

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/events"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A Client is one conversation with an MCP client: a stdio connection, a
// server-issued session of 2025-11-25, or one stateless request.
type Client struct {
	ID        string
	Transport string // stdio or http
	Principal string
	Session   *Session
	since     time.Time
	Out       spec.Stream // for what belongs to no request; may drop

	logLevelSet *atomic.Bool // some client has asked for a level of log messages

	seen time.Time // last used; guarded by the lock of [sessions]

	Streams        events.Logs    // of a session over HTTP
	Requests       openRequests   // of the client
	ClientRequests clientRequests // to the client
	Subscriptions  subscriptions

	mu          sync.Mutex
	peer        Peer   // of the handshake
	initialized bool   // it has sent notifications/initialized
	logLevel    string // of logging/setLevel; empty: it has not asked
}

// Handshake notes what a client says in initialize.
func (c *Client) Handshake(params []byte, protocol string) {
	p := Peer{Protocol: protocol, Rev: rev.Rev2025}
	if info, ok := rawjson.Member(params, "clientInfo"); ok {
		p.Name, p.Version = brief(spec.Member(info, "name")), brief(spec.Member(info, "version"))
	}
	if capabilities, ok := rawjson.Member(params, "capabilities"); ok {
		p.declare(capabilities)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.peer = p
}

// Ready reports whether the client has sent notifications/initialized.
func (c *Client) Ready() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.initialized
}

// Initialize notes notifications/initialized.
func (c *Client) Initialize() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.initialized = true
}

// Handshaken is the agent of the handshake.
func (c *Client) Peer() Peer {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.peer
}

// SetLogLevel notes logging/setLevel.
func (c *Client) SetLogLevel(level string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.logLevel = level
}

// askedLevel is the level of logging/setLevel; empty: the client has not asked.
func (c *Client) setLogLevel() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.logLevel
}

// Unasked is the level of a client that has not asked for one, once another
// has: without us its server would have decided, and most begin there.
const DefaultLogLevel = "info"

// Level is the least level of log messages that a client with a handshake wants;
// empty: it has no handshake, or all that there are.
func (c *Client) LogLevel() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.logLevel == "" && c.initialized && c.logLevelSet.Load() {
		return DefaultLogLevel
	}
	return c.logLevel
}

// Speaker is the agent behind one request: what the request says of itself
// since 2026-07-28, or else what the handshake said.
func (c *Client) PeerOf(m wire.Meta) Peer {
	if !rev.Of(m).PerRequest {
		return c.Peer()
	}
	return Peer{
		Name: brief(spec.Member(m.ClientInfo, "name")), Version: brief(spec.Member(m.ClientInfo, "version")),
		Protocol: m.ProtocolVersion, Rev: rev.Rev2026, Elicit: canElicit(m.ClientCapabilities),
		Capabilities: m.ClientCapabilities,
	}
}
