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

// A Client is a conversation with an MCP client: a stdio connection, an HTTP session (revisions up
// to 2025-11-25), or a stateless request (2026-07-28). Its methods are safe for concurrent use.
type Client struct {
	ID        string
	Transport string // "stdio" or "http"
	Principal string
	Session   *Session // session of the connection; for a client without a connection, the same as State
	State     *Session // session whose nets decide the client's requests, unless a request names another session; see [Sessions.Of]
	since     time.Time
	Out       spec.Stream // stream for messages that do not belong to a request; may drop messages

	logLevelSet *atomic.Bool // whether some client has sent logging/setLevel; shared with [Sessions]

	seen time.Time // time of the last use, guarded by Sessions.mu

	Streams        events.Logs    // resumable streams of an HTTP session
	Requests       openRequests   // the client's requests in flight
	ClientRequests clientRequests // the proxy's requests to the client
	Subscriptions  subscriptions

	Ready    atomic.Bool          // whether the client has sent notifications/initialized
	peer     atomic.Pointer[Peer] // the client's description of itself in initialize; nil before initialize
	logLevel atomic.Value         // level from logging/setLevel, a string; nil: not set
}

// Handshake stores the clientInfo and the capabilities in the client's initialize request.
func (c *Client) Handshake(params []byte, protocol string) {
	p := &Peer{Protocol: protocol, Rev: rev.Rev2025}
	if info, ok := rawjson.Member(params, "clientInfo"); ok {
		p.Name, p.Version = shortened(spec.Member(info, "name")), shortened(spec.Member(info, "version"))
	}
	if capabilities, ok := rawjson.Member(params, "capabilities"); ok {
		p.Elicit, p.Capabilities = canElicit(capabilities), forwardedCapabilities(capabilities)
	}
	c.peer.Store(p)
}

// Peer returns the client's description of itself in initialize.
func (c *Client) Peer() Peer {
	if p := c.peer.Load(); p != nil {
		return *p
	}
	return Peer{Rev: rev.Rev2025}
}

// SetLogLevel stores the level from logging/setLevel.
func (c *Client) SetLogLevel(level string) { c.logLevel.Store(level) }

// explicitLogLevel returns the level from logging/setLevel, or "" if the client has not set a
// level.
func (c *Client) explicitLogLevel() string {
	level, _ := c.logLevel.Load().(string)
	return level
}

// DefaultLogLevel is the level that applies to a client that has not set a level, once another
// client has set one. Servers choose their own defaults; this level is the most common default.
const DefaultLogLevel = "info"

// LogLevel returns the minimum level of log messages for a client with a handshake. An empty string
// means all levels, or that there was no handshake.
func (c *Client) LogLevel() string {
	level := c.explicitLogLevel()
	if level == "" && c.Ready.Load() && c.logLevelSet.Load() {
		return DefaultLogLevel
	}
	return level
}

// PeerOf returns the client's description of itself. Since revision 2026-07-28, it is in the
// request's _meta; in earlier revisions, it comes from the handshake.
func (c *Client) PeerOf(m wire.Meta) Peer {
	if !rev.Of(m.ProtocolVersion).PerRequest {
		return c.Peer()
	}
	return Peer{
		Name: shortened(spec.Member(m.ClientInfo, "name")), Version: shortened(spec.Member(m.ClientInfo, "version")),
		Protocol: m.ProtocolVersion, Rev: rev.Rev2026, Elicit: canElicit(m.ClientCapabilities),
		Capabilities: m.ClientCapabilities,
	}
}
