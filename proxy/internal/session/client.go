package session

import (
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
	Session   *Session // of the connection, or, without one, State
	State     *Session // whose nets its requests are about, unless they say another; see [Sessions.Of]
	since     time.Time
	Out       spec.Stream // carries messages that belong to no request; it may drop some

	logLevelSet *atomic.Bool // that of [Sessions]: some client has sent logging/setLevel

	seen time.Time // when the client was last used; only [Sessions] reads and writes it

	Streams        events.Logs    // streams of a session over HTTP that can be resumed
	Requests       openRequests   // requests of the client
	ClientRequests clientRequests // requests of the proxy to the client
	Subscriptions  subscriptions

	Ready    atomic.Bool          // the client has sent notifications/initialized
	peer     atomic.Pointer[Peer] // from initialize; nil before it
	logLevel atomic.Value         // string, from logging/setLevel; nil: the client has set none
}

// Handshake stores what a client says about itself in initialize.
func (c *Client) Handshake(params []byte, protocol string) {
	p := &Peer{Protocol: protocol, Rev: rev.Rev2025}
	if info, ok := rawjson.Member(params, "clientInfo"); ok {
		p.Name, p.Version = brief(spec.Member(info, "name")), brief(spec.Member(info, "version"))
	}
	if capabilities, ok := rawjson.Member(params, "capabilities"); ok {
		p.Elicit, p.Capabilities = canElicit(capabilities), forwardedCapabilities(capabilities)
	}
	c.peer.Store(p)
}

// Peer returns what the client said about itself in initialize.
func (c *Client) Peer() Peer {
	if p := c.peer.Load(); p != nil {
		return *p
	}
	return Peer{Rev: rev.Rev2025}
}

// SetLogLevel stores the level of logging/setLevel.
func (c *Client) SetLogLevel(level string) { c.logLevel.Store(level) }

// explicitLogLevel returns the level of logging/setLevel; empty: the client has set none.
func (c *Client) explicitLogLevel() string {
	level, _ := c.logLevel.Load().(string)
	return level
}

// DefaultLogLevel is the level of a client that has set none, once another client has
// set one: servers choose their own default, and most choose this.
const DefaultLogLevel = "info"

// LogLevel returns the lowest level of the log messages that a client with a handshake
// gets; empty: it gets all, or has no handshake.
func (c *Client) LogLevel() string {
	level := c.explicitLogLevel()
	if level == "" && c.Ready.Load() && c.logLevelSet.Load() {
		return DefaultLogLevel
	}
	return level
}

// PeerOf returns what the client says about itself: in the _meta of a request since
// 2026-07-28, or else in its handshake.
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
