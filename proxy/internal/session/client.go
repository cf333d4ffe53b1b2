package session

import (
	"context"
	"errors"
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/proxy/internal/events"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A Client is a conversation with an MCP client: a stdio connection, an HTTP session (revisions up
// to 2025-11-25), or a stateless request (2026-07-28). Its methods are safe for concurrent use.
type Client struct {
	ID        string
	Transport string // transport of the client: "stdio", "http", or "sse" for HTTP+SSE (2024-11-05)
	Principal string
	Session   *Session // session of the client's connection; the same as State if the client has no connection
	State     *Session // session whose nets apply to the client's calls, unless a request names another one; see [Sessions.Of]
	since     time.Time
	Out       spec.Stream // stream for messages that belong to no request; may drop messages

	logLevelSet *atomic.Bool // whether any of the proxy's clients has sent logging/setLevel; shared with [Sessions]

	seen time.Time // time of the latest use over streamable HTTP, or of the connection for any other client; guarded by Sessions.mu

	Streams        events.Logs    // resumable streams of an HTTP session
	Requests       openRequests   // the client's in-flight requests
	ClientRequests clientRequests // the proxy's requests to the client
	Subscriptions  subscriptions

	Ready    atomic.Bool          // whether the client has sent notifications/initialized
	peer     atomic.Pointer[Peer] // the client's self-description from initialize; nil before initialize
	logLevel atomic.Value         // log level (a string) set with logging/setLevel; nil if not set
}

// Handshake stores the clientInfo and capabilities from the client's initialize request.
func (c *Client) Handshake(params []byte, protocol string) {
	p := &Peer{Protocol: protocol, Rev: rev.Rev2025}
	p.Name = shortenName(rawjson.StringAt(params, "clientInfo", "name"))
	p.Version = shortenName(rawjson.StringAt(params, "clientInfo", "version"))
	if capabilities, ok := rawjson.Member(params, "capabilities"); ok {
		p.Elicit, p.Capabilities = canElicit(capabilities), forwardedCapabilities(capabilities)
	}
	c.peer.Store(p)
}

// Peer returns the client's self-description from initialize.
func (c *Client) Peer() Peer {
	if p := c.peer.Load(); p != nil {
		return *p
	}
	return Peer{Rev: rev.Rev2025}
}

// SetLogLevel stores a level set with logging/setLevel.
func (c *Client) SetLogLevel(level string) { c.logLevel.Store(level) }

// explicitLogLevel returns the level set with logging/setLevel, or "" if the client has set none.
func (c *Client) explicitLogLevel() string {
	level, _ := c.logLevel.Load().(string)
	return level
}

// DefaultLogLevel is the level of clients that have not set one. It applies only after another
// client has set a level. Most servers have the same default.
const DefaultLogLevel = "info"

// LogLevel returns the minimum level of log messages for the client. If the client has set a level,
// LogLevel returns that level. If only other clients have set a level and this client has sent
// notifications/initialized, LogLevel returns the default level. Otherwise, it returns "", which
// means all levels.
func (c *Client) LogLevel() string {
	level := c.explicitLogLevel()
	if level == "" && c.Ready.Load() && c.logLevelSet.Load() {
		return DefaultLogLevel
	}
	return level
}

// PeerOf returns the client's self-description. Since revision 2026-07-28, it is part of the
// request's _meta. In earlier revisions, it is part of the handshake.
func (c *Client) PeerOf(m wire.Meta) Peer {
	if !rev.Of(m.ProtocolVersion).PerRequest {
		return c.Peer()
	}
	return Peer{
		Name: shortenName(rawjson.StringAt(m.ClientInfo, "name")), Version: shortenName(rawjson.StringAt(m.ClientInfo, "version")),
		Protocol: m.ProtocolVersion, Rev: rev.Rev2026, Elicit: canElicit(m.ClientCapabilities),
		Capabilities: m.ClientCapabilities,
	}
}

// Notification converts a server's notification about a client's request to the form that the
// client expects, with the client's own progress token. It returns nil if the client has not asked
// for such notifications.
func (c *Client) Notification(p Peer, meta wire.Meta, method string, params []byte) []byte {
	switch method {
	case "notifications/progress":
		if meta.ProgressToken == nil {
			return nil
		}
		params = wire.ReplaceMember(nil, params, "progressToken", meta.ProgressToken)
	case "notifications/message":
		if !c.TakesLog(p, meta, params) {
			return nil
		}
	case spec.ElicitationComplete:
		if !p.Rev.CompleteURL {
			return nil
		}
	default:
		return nil
	}
	return wire.AppendNotification(nil, method, params)
}

// TakesLog reports whether the client wants a notifications/message with the given params. The
// client chooses a level with logging/setLevel or, since 2026-07-28, in the request's _meta.
func (c *Client) TakesLog(p Peer, meta wire.Meta, params []byte) bool {
	level := spec.LogLevels[rawjson.StringAt(params, "level")]
	if p.Rev.LevelInMeta {
		wanted, asked := spec.LogLevels[meta.LogLevel]
		return asked && level >= wanted
	}
	return level >= spec.LogLevels[c.LogLevel()]
}

// WithLogLevel adds the client's log level to meta, the _meta of a request to a server that uses
// revision 2026-07-28. Without a level, such a server sends no log messages for the request.
func (c *Client) WithLogLevel(p Peer, m wire.Meta, meta []byte) []byte {
	level := m.LogLevel
	if !p.Rev.LevelInMeta {
		level = c.explicitLogLevel()
	}
	if _, known := spec.LogLevels[level]; !known || meta == nil {
		return meta
	}
	return append(meta[:len(meta):len(meta)], `,"io.modelcontextprotocol/logLevel":"`+level+`"`...)
}

// A Request is a client's request that is not a call. Its handler returns a result or an error,
// which [Request.Answer] sends to the client.
type Request struct {
	Client  *Client
	Message wire.Message
	Meta    wire.Meta
	Stream  spec.Stream // stream for the response and for messages about the request
}

// Peer returns the client's self-description, from the request or the handshake.
func (q Request) Peer() Peer { return q.Client.PeerOf(q.Meta) }

// Rev returns the request's revision family.
func (q Request) Rev() *rev.Rev { return rev.Of(q.Meta.ProtocolVersion) }

// Answer sends a result or an error to the client. A server's error object and a [wire.Fault] keep
// their error codes; any other error becomes an internal error. If both result and err are nil, the
// client has stopped waiting, and Answer sends nothing.
func (q Request) Answer(result []byte, err error) {
	id := q.Message.ID
	var refused upstream.Refused
	var fault *wire.Fault
	switch {
	case errors.As(err, &refused):
		q.Stream.Reply(wire.ErrorHead(id), refused, wire.Tail)
	case errors.As(err, &fault):
		q.Stream.Reply(wire.AppendError(nil, id, fault.Code, fault.Message, fault.Data))
	case err != nil:
		q.Stream.Reply(wire.AppendError(nil, id, wire.CodeInternal, err.Error(), nil))
	case result != nil:
		q.Stream.Reply(wire.ResultHead(id), result, wire.Tail)
	}
}

// openRequests holds the unanswered requests of one client. The zero value is ready to use. mu
// guards the other fields.
type openRequests struct {
	mu    sync.Mutex
	first openRequest          // one of the open requests, or the zero value; kept outside the map because most clients have only one open request
	more  map[string]canceller // other open requests, keyed by [wire.IDKey] of the ID
	open  int                  // number of requests whose responses have not been written
	past  []uint64             // hashed IDs of recently ended requests
	idle  chan struct{}        // closed when all requests have been answered; nil if no caller is waiting for that
}

// An openRequest is an unanswered request. Its id is the [wire.IDKey] of the ID sent by the client.
type openRequest struct {
	id      string
	request canceller
}

// A canceller cancels a client's unanswered request.
type canceller interface {
	Cancel(reason error)
}

// A CancelFunc cancels a request that is not a call.
type CancelFunc context.CancelCauseFunc

func (f CancelFunc) Cancel(reason error) { f(reason) }

// Begin adds a request with the given ID. It returns false if that ID is already in use.
func (r *openRequests) Begin(id string, request canceller) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.find(id) != nil {
		return false
	}
	if r.first.request == nil {
		r.first = openRequest{id, request}
	} else {
		if r.more == nil {
			r.more = map[string]canceller{}
		}
		r.more[id] = request
	}
	r.open++
	return true
}

// find returns the request with the given ID, or nil. The caller must hold mu.
func (r *openRequests) find(id string) canceller {
	if r.first.request != nil && r.first.id == id {
		return r.first.request
	}
	return r.more[id]
}

// End removes a request, so that the client can reuse its ID.
func (r *openRequests) End(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.first.id == id {
		r.first = openRequest{}
	} else {
		delete(r.more, id)
	}
	if len(id) > maxPastBytes {
		return
	}
	if len(r.past) >= maxPast {
		r.past = slices.Delete(r.past, 0, 1)
	}
	r.past = append(r.past, maphash.String(pastSeed, id))
}

var pastSeed = maphash.MakeSeed()

// Limits on the number and the length of the stored IDs of ended requests.
const (
	maxPast      = 64
	maxPastBytes = 40
)

// Knows reports whether a notifications/cancelled message names a request that this process is
// handling or has handled recently.
func (r *openRequests) Knows(params []byte) bool {
	id, ok := rawjson.Member(params, "requestId")
	if !ok {
		return true // without a requestId, the message cannot be meant for another process
	}
	key := wire.IDKey(id)
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.find(key) != nil || len(key) > maxPastBytes || slices.Contains(r.past, maphash.String(pastSeed, key))
}

// Answered records that the response to a request has been written, or never will be.
func (r *openRequests) Answered() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open > 0 {
		r.open--
	}
	if r.open == 0 && r.idle != nil {
		close(r.idle)
		r.idle = nil
	}
}

// Drained returns a channel that is closed once all requests have been answered.
func (r *openRequests) Drained() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	idle := make(chan struct{})
	if r.open == 0 {
		close(idle)
	} else {
		r.idle = idle
	}
	return idle
}

// Any reports whether any request is in flight.
func (r *openRequests) Any() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.first.request != nil || len(r.more) > 0
}

// Cancelled cancels the request named in a notifications/cancelled message. IDs match only if they
// have the same JSON type: the string "7" does not cancel the request with the number 7.
func (r *openRequests) Cancelled(params []byte) {
	id, ok := rawjson.Member(params, "requestId")
	if !ok {
		return
	}
	r.mu.Lock()
	request := r.find(wire.IDKey(id))
	r.mu.Unlock()
	if request == nil {
		return
	}
	if reason := rawjson.StringAt(params, "reason"); reason != "" {
		request.Cancel(spec.CancelReason(reason))
		return
	}
	request.Cancel(spec.ErrCancelled)
}

// CancelAll cancels all requests of a client that has disconnected.
func (r *openRequests) CancelAll(reason error) {
	for _, request := range r.all() {
		request.Cancel(reason)
	}
}

// CancelCalls cancels all calls. It may miss calls that begin while it runs.
func (r *openRequests) CancelCalls(reason error) {
	for _, request := range r.all() {
		if _, other := request.(CancelFunc); !other {
			request.Cancel(reason)
		}
	}
}

func (r *openRequests) all() []canceller {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := slices.Collect(maps.Values(r.more))
	if r.first.request != nil {
		all = append(all, r.first.request)
	}
	return all
}

// A Peer is a client's self-description (clientInfo, capabilities and protocol version). Clients
// send it in initialize or, since revision 2026-07-28, in each request.
type Peer struct {
	Name, Version string // name and version, for display only, because a client can claim any name
	Protocol      string
	Rev           *rev.Rev
	Elicit        bool   // whether the client can show forms (elicitation in form mode)
	Capabilities  []byte // capabilities as declared by the client
}

// shortenName shortens a name that is too long for an audit record.
func shortenName(name string) string {
	if len(name) <= audit.MaxText {
		return name
	}
	return audit.Bounded(name)
}

// Forwarded returns the client capabilities that the proxy declares to servers on the client's
// behalf. They do not include tasks.requests (revision 2025-11-25), so that servers do not ask the
// client to run their requests as tasks.
func (p Peer) Forwarded() []byte {
	if p.Rev.PerRequest {
		return forwardedCapabilities(p.Capabilities)
	}
	if p.Capabilities == nil {
		return []byte(`{}`)
	}
	return p.Capabilities
}

// forwardedCapabilities returns the client capabilities that a server can use through the proxy:
// roots, sampling and elicitation.
func forwardedCapabilities(capabilities []byte) []byte {
	var forwarded rawjson.Object
	for _, name := range []string{"roots", "sampling", "elicitation"} {
		if value, _ := rawjson.Member(capabilities, name); rawjson.Kind(value) == '{' {
			forwarded = forwarded.Raw(name, value)
		}
	}
	return forwarded.Bytes()
}

// canElicit reports whether the capabilities allow elicitation/create with a form: the member
// "elicitation" must declare the mode "form" or no mode at all.
func canElicit(capabilities []byte) bool {
	e, ok := rawjson.Member(capabilities, "elicitation")
	if !ok || rawjson.Kind(e) != '{' {
		return false
	}
	if _, form := rawjson.Member(e, "form"); form {
		return true
	}
	_, url := rawjson.Member(e, "url")
	return !url
}

// Answers reports whether the client has declared the capability required by a server's request.
func (p Peer) Answers(method string, params []byte) bool {
	switch method {
	case "roots/list":
		_, ok := rawjson.Member(p.Capabilities, "roots")
		return ok
	case "sampling/createMessage":
		_, ok := rawjson.Member(p.Capabilities, "sampling")
		return ok
	case "elicitation/create":
		if rawjson.StringAt(params, "mode") != "url" {
			return p.Elicit
		}
		return p.OpensURL()
	}
	return false
}

// OpensURL reports whether the client can open a page for its user (elicitation in URL mode).
func (p Peer) OpensURL() bool { return spec.Declares(p.Capabilities, "elicitation", "url") }

// TakesTasks reports whether a client that uses revision 2026-07-28 accepts a task as the result of
// a call.
func (p Peer) TakesTasks() bool {
	return p.Rev.TaskExtension && spec.Declares(p.Capabilities, "extensions", spec.TasksExtension)
}
