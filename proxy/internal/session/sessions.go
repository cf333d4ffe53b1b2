// Package session holds the connected clients and the open sessions.
//
// A [Client] is one conversation with an MCP client: a stdio connection, an HTTP session of
// revisions up to 2025-11-25, or one stateless request of revision 2026-07-28. It keeps the
// client's description of itself ([Peer]), its unanswered requests, the proxy's unanswered requests
// to it, and its subscriptions. All calls in a [Session] change the markings of the same Petri
// nets. [Sessions.Of] alone decides which session a client's request belongs to, according to the
// configured [Way].
//
// # Replicas
//
// Several replicas of the proxy can serve the same clients if their states are in a shared
// database. An HTTP session can then continue on another replica. After the handshake,
// [Sessions.Introduce] stores a description of the session ([About]), which includes a hash of the
// client's Mcp-Session-Id. A replica that receives an unknown Mcp-Session-Id derives the session's
// ID from it ([Sessions.Kept]), looks the session up in the database, and adds the client with
// [Sessions.Restore], without a new handshake. A replica that stops serving such a client sets
// Session.Left, so that it does not end a session that another replica may still serve. Connections
// to servers, subscriptions and requests in flight stay with their replica.
//
// # Locks
//
// Sessions.mu guards the tables of clients and sessions, and the time of last use of each client.
// Sessions.making is held while creating a session that several clients can share, and
// Sessions.restoring while restoring a client. The locking order is restoring, making, mu. The
// other types have locks of their own, which are held only during a single operation.
//
// # Invariants
//
// A client can use only sessions of its own principal. The ID of a connection's session is a hash
// of the client's ID. The hash does not reveal the client's ID, which is secret.
package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/events"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/lines"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A Session is the state shared by several calls, in particular the markings of the nets. Tasks,
// and dedicated connections to servers, also belong to a session; see Client.Session.
type Session struct {
	ID        string
	Principal string
	By        string // how the session was chosen: connection, principal, name, header, meta or agent; see [Sessions.Of]
	Label     string // name that distinguishes the session from others of the same principal
	Since     time.Time
	Lasting   bool        // whether the session can outlive the process when the states are stored in a database
	About     []byte      // encoded [About], stored for other replicas; nil if not stored
	Left      atomic.Bool // whether this process has stopped serving the session while other replicas may still serve it
	Bare      bool        // whether the connection's calls use the nets of another session
	Ended     atomic.Bool // whether the session is closed to new calls
	Narrowed  atomic.Bool // whether a client has received a tool list limited to the tools that the session's nets allow
}

// Key returns the key of the session's state in package admission.
func (s *Session) Key() admission.Key { return admission.Key{Session: s.ID, Principal: s.Principal} }

// byAgent is the value of Session.By for sessions named by an agent's hooks.
const byAgent = "agent"

// OfAgent reports whether only an agent's hooks use the session; see [Sessions.OfAgent].
func (s *Session) OfAgent() bool { return s.By == byAgent }

// A Way is a way to choose the session of a call. The zero value means "connection".
type Way struct {
	By     string // way of choosing the session: "connection", "principal", "name", "header" or "meta"; empty means "connection"
	Name   string // session name, if By is "name"
	Header string // header with the session name, if By is "header"
	Meta   string // _meta key of the session name, if By is "meta"
}

// An Origin holds the parts of a request that determine its session.
type Origin struct {
	Principal  string
	Connection *Session    // session to use if each connection has its own; may be nil
	Header     http.Header // nil if the transport has no headers
	Params     []byte
}

// Sessions holds the connected clients and the open sessions. It is safe for concurrent use.
type Sessions struct {
	now               func() time.Time
	way               Way
	kept              bool                         // whether other replicas can serve the HTTP sessions too
	process           string                       // identifies this process in the IDs of its requests to clients
	begin             func(*Session) error         // called before the first use of a session
	LogLevelSet       atomic.Bool                  // whether any client has sent logging/setLevel
	SeveralPrincipals atomic.Bool                  // whether more than one principal can connect over HTTP
	Stdio             atomic.Pointer[lines.Writer] // writer for the stdio client; nil if clients connect over HTTP
	streams           events.Budget                // limits the resumable streams of the HTTP clients

	making    sync.Mutex // held while creating a session that several clients can share
	restoring sync.Mutex // held while restoring a client from another replica

	mu        sync.Mutex
	connected map[string]*Client  // keyed by ID
	open      map[string]*Session // keyed by ID
}

// Options configures a [Sessions].
type Options struct {
	Way    Way
	Shared bool // whether the states are in a database shared with other replicas
}

// New returns a Sessions without clients. The function begin opens the state of a new session
// before the session's first call. If begin returns an error, the session's calls are refused.
func New(o Options, begin func(*Session) error, now func() time.Time) *Sessions {
	return &Sessions{now: now, way: o.Way, kept: o.Shared, process: lifetime.RandomID("")[:8], begin: begin, connected: map[string]*Client{}, open: map[string]*Session{}}
}

// Shared reports whether other replicas can serve the HTTP sessions too.
func (s *Sessions) Shared() bool { return s.kept }

func (s *Sessions) add(id, transport, principal string, of, state *Session, out spec.Stream) *Client {
	now := s.now()
	c := &Client{
		ID: id, Transport: transport, Principal: principal, Session: of, State: state, Out: out, since: now, seen: now, logLevelSet: &s.LogLevelSet,
		Streams: events.Logs{Budget: &s.streams, Principal: principal},
	}
	c.ClientRequests.process = s.process
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connected[c.ID] = c
	return c
}

// Remove removes a client, along with its session if the session belongs to its connection.
func (s *Sessions) Remove(c *Client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.connected, c.ID)
	if c.Session.By == "connection" {
		delete(s.open, c.Session.ID)
	}
}

// Limits on the number of sessions with names chosen by clients.
const (
	maxSplits    = 1000   // maximum number per principal
	maxSplitsAll = 10_000 // maximum number in total
)

var errSplits = errors.New("too many named sessions are open; use one of them again")

// shared returns the principal's session with the name label, and creates it if necessary.
// Concurrent calls with the same name get the same session. Otherwise, a client could get two
// sessions and use up the limits of the nets twice.
func (s *Sessions) shared(by, principal, label string) (*Session, error) {
	id := by[:1] + "-" + wire.Digest([]byte(by + "\x00" + principal + "\x00" + label))[:32] // a hash, because a name chosen by a client must not produce the ID of another session
	if known := s.known(id); known != nil {
		return known, nil
	}
	s.making.Lock()
	defer s.making.Unlock()
	if known := s.known(id); known != nil {
		return known, nil
	}
	if isChosenByCaller(by) && !s.roomForSplit(principal) {
		return nil, errSplits
	}
	made := &Session{ID: id, Principal: principal, By: by, Label: label, Since: s.now(), Lasting: true, About: About{By: by, Label: label}.bytes()}
	_ = s.begin(made) // after an error, the session's calls are refused
	s.keep(made)
	return made, nil
}

// isChosenByCaller reports whether callers choose the name of a session. The argument is the By
// field of the session.
func isChosenByCaller(by string) bool { return by == "header" || by == "meta" || by == byAgent }

func (s *Sessions) known(id string) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[id]
}

// roomForSplit reports whether the principal can open another session with a name of its choice.
func (s *Sessions) roomForSplit(principal string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	own, all := 0, 0
	for _, o := range s.open {
		if isChosenByCaller(o.By) {
			if all++; o.Principal == principal {
				own++
			}
		}
	}
	return own < maxSplits && all < maxSplitsAll
}

// Has reports whether a client is still connected.
func (s *Sessions) Has(c *Client) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.connected[c.ID] == c
}

// Clients returns the connected clients.
func (s *Sessions) Clients() []*Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.connected))
}

// EndAgent ends a session used only by an agent's hooks. For any other session, it returns false.
func (s *Sessions) EndAgent(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.open[id]
	if of == nil || !of.OfAgent() {
		return false
	}
	delete(s.open, id)
	of.Ended.Store(true)
	return true
}

// Uses returns the time when each session was last used by a connected client. The proxy records
// uses only over streamable HTTP. For other clients, Uses returns the time of the connection.
func (s *Sessions) Uses() map[*Session]time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	uses := make(map[*Session]time.Time, len(s.connected))
	for _, c := range s.connected {
		if c.seen.After(uses[c.State]) {
			uses[c.State] = c.seen
		}
	}
	return uses
}

// All returns the open sessions, oldest first.
func (s *Sessions) All() []*Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Values(s.open), func(a, b *Session) int { return a.Since.Compare(b.Since) })
}

// Find returns the open session with the given ID.
func (s *Sessions) Find(id string) (*Session, error) {
	if found := s.known(id); found != nil {
		return found, nil
	}
	return nil, fmt.Errorf("there is no session %q", id)
}

// Count returns the number of clients and the number of sessions.
func (s *Sessions) Count() (clients, open int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.connected), len(s.open)
}

// CountHTTP returns the number of the principal's HTTP sessions, and the total number of HTTP
// sessions.
func (s *Sessions) CountHTTP(principal string) (own, all int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.connected {
		if c.Transport == "stdio" || c.Session.By != "connection" {
			continue
		}
		all++
		if c.Principal == principal {
			own++
		}
	}
	return own, all
}

// Use returns the client with the given Mcp-Session-Id and marks it as used. It returns nil if this
// process has no such client or the client belongs to another principal.
func (s *Sessions) Use(id, principal string) *Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.connected[id]
	if c == nil || c.Transport != "http" || c.Principal != principal || c.Session.By != "connection" {
		return nil
	}
	c.seen = s.now()
	return c
}

// addOnce returns the client with the given ID or, if it does not exist yet, the result of the add
// function. Only one call at a time runs add, so that no client is added twice.
func (s *Sessions) addOnce(id, principal string, add func() *Client) *Client {
	s.restoring.Lock()
	defer s.restoring.Unlock()
	if c := s.Use(id, principal); c != nil {
		return c
	}
	return add()
}

// keep adds a session to the table of open sessions.
func (s *Sessions) keep(own *Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[own.ID] = own
}

// Seen reports whether a client has been used since the given time.
func (s *Sessions) Seen(c *Client, since time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.seen.After(since)
}

// Idle reports whether a client has been unused for longer than ttl. A busy client counts as used
// now.
func (s *Sessions) Idle(c *Client, busy bool, ttl time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if busy {
		c.seen = now
	}
	return !busy && now.Sub(c.seen) > ttl
}

// Of returns the session whose nets apply to a request, according to the configured [Way]. If the
// session does not exist yet, Of opens it. Only this method chooses the session of a client's
// request. A client can name only sessions of its own principal.
func (s *Sessions) Of(o Origin) (*Session, error) {
	switch s.way.By {
	case "name":
		return s.shared("name", o.Principal, s.way.Name)
	case "header":
		values := o.Header.Values(s.way.Header)
		if len(values) > 1 {
			return nil, fmt.Errorf("the header %s is given twice", s.way.Header)
		}
		if len(values) == 1 {
			return s.split("header", "the header "+s.way.Header, o.Principal, values[0])
		}
	case "meta":
		if value, given := rawjson.MemberAt(o.Params, "_meta", s.way.Meta); given {
			label, ok := rawjson.String(value)
			if !ok {
				return nil, fmt.Errorf("_meta: %q is not a string", s.way.Meta)
			}
			return s.split("meta", "_meta: "+s.way.Meta, o.Principal, label)
		}
	case "", "connection":
		if o.Connection != nil {
			return o.Connection, nil
		}
	}
	return s.shared("principal", o.Principal, "")
}

// maxLabel is the maximum length, in bytes, of a session name chosen by a client.
const maxLabel = 128

// split checks a session name chosen by the client, and returns the principal's session with that
// name.
func (s *Sessions) split(by, what, principal, label string) (*Session, error) {
	unprintable := !utf8.ValidString(label) || strings.ContainsFunc(label, func(r rune) bool { return !unicode.IsPrint(r) })
	if label == "" || len(label) > maxLabel || unprintable {
		return nil, fmt.Errorf("%s must be a session name of 1 to %d printable characters", what, maxLabel)
	}
	return s.shared(by, principal, label)
}

// OfAgent returns the session whose nets apply to the calls reported by an agent's hooks. If each
// connection has its own session, it returns the principal's session with the given name, which
// consists of the agent's name and its session_id. Otherwise, it returns the session that
// [Sessions.Of] chooses for the HTTP headers of the hook's request.
func (s *Sessions) OfAgent(principal, label string, header http.Header) (*Session, error) {
	if s.way.By != "" && s.way.By != "connection" {
		return s.Of(Origin{Principal: principal, Header: header})
	}
	return s.split(byAgent, "the session_id", principal, label)
}

// OfCall returns the session whose nets apply to a client's call.
func (s *Sessions) OfCall(c *Client, params []byte) (*Session, error) {
	if s.way.By != "meta" {
		return c.State, nil
	}
	return s.Of(Origin{Principal: c.Principal, Connection: c.Session, Params: params})
}

// Agrees returns an error if the header of a request names a session other than the one named when
// the client connected.
func (s *Sessions) Agrees(c *Client, header http.Header) error {
	if s.way.By != "header" || len(header.Values(s.way.Header)) == 0 {
		return nil
	}
	state, err := s.Of(Origin{Principal: c.Principal, Connection: c.Session, Header: header})
	if err == nil && state != c.State {
		err = fmt.Errorf("the header %s names another session than initialize did", s.way.Header)
	}
	return err
}

// An About describes a session to other replicas.
type About struct {
	By    string `json:"by"`
	Label string `json:"name,omitempty"`

	// The fields below are set only for HTTP sessions of clients that have sent initialize.
	Client       string          `json:"client,omitempty"` // SHA-256 of the client's Mcp-Session-Id
	State        string          `json:"state,omitempty"`  // name of the session whose nets apply to the calls, if the client gave the name in a header
	Protocol     string          `json:"protocol,omitempty"`
	Name         string          `json:"clientName,omitempty"`
	Version      string          `json:"clientVersion,omitempty"`
	Elicit       bool            `json:"elicit,omitempty"`
	Capabilities json.RawMessage `json:"capabilities,omitempty"`
}

// ReadAbout decodes an About. If data is invalid, it returns the zero value.
func ReadAbout(data []byte) (a About) {
	if json.Unmarshal(data, &a) != nil {
		return About{}
	}
	return a
}

func (a About) bytes() []byte {
	data, err := json.Marshal(a)
	if err != nil {
		return nil // cannot happen: the capabilities are valid JSON
	}
	return data
}
