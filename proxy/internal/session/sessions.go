// Package session has the clients that are connected: what each says of itself, its
// requests that have no answer yet, what it is told and has subscribed to, what it is
// asked; and the sessions whose calls share the state of the nets.
//
// A Client is one conversation: a stdio connection, a session over HTTP of revisions up
// to 2025-11-25, or one stateless request of 2026-07-28.
package session

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/events"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/lines"
	"github.com/petrigate/petrigate/proxy/internal/spec"
)

// Sessions holds the clients that are connected and the sessions that are open.
type Sessions struct {
	now               func() time.Time
	way               Way
	kept              bool                         // other processes may have the sessions over HTTP too
	process           string                       // in the ids of requests to clients
	begin             func(*Session) error         // called before a session is used
	LogLevelSet       atomic.Bool                  // a client has sent logging/setLevel
	SeveralPrincipals atomic.Bool                  // more than one principal may come over HTTP
	Stdio             atomic.Pointer[lines.Writer] // writer of the client over stdio, if there is one
	streams           events.Budget                // bounds the streams that clients over HTTP can resume

	making    sync.Mutex // held while a session is made that several clients may be in
	restoring sync.Mutex // held while a client of another process is added

	mu        sync.Mutex
	connected map[string]*Client  // by id
	open      map[string]*Session // by id
}

// Options say what sessions there are.
type Options struct {
	Way    Way
	Shared bool // the states are where other processes have them too
}

// New returns Sessions without clients. It calls begin for every session before its use,
// but for those over HTTP, which begin with [Sessions.Begin] after the handshake. If that
// fails, the calls of the session are refused.
func New(o Options, begin func(*Session) error, now func() time.Time) *Sessions {
	return &Sessions{now: now, way: o.Way, kept: o.Shared, process: lifetime.RandomID("")[:8], begin: begin, connected: map[string]*Client{}, open: map[string]*Session{}}
}

// Shared reports whether other processes may have the sessions over HTTP too.
func (s *Sessions) Shared() bool { return s.kept }

// Connect adds a client with a session of its own, for its connection. The header is that
// of the request by which it connects; nil: there is none.
func (s *Sessions) Connect(transport, principal string, header http.Header, out spec.Stream) (*Client, error) {
	id := lifetime.RandomID("")
	own := &Session{ID: idOf(id), Principal: principal, By: "connection", Since: s.now()}
	state, err := s.Of(Origin{Principal: principal, Connection: own, Header: header})
	if err != nil {
		return nil, err
	}
	own.Bare = state != own
	if transport != "http" {
		_ = s.Begin(own) // its calls are refused then
	}
	return s.add(id, transport, principal, own, state, out), nil
}

// idOf returns the id of the session that a client's id belongs to. The client's is a
// secret of its principal; the session's is not.
func idOf(client string) string {
	sum := sha256.Sum256([]byte("session\x00" + client))
	return hex.EncodeToString(sum[:8])
}

// Begin begins the session of a connection, unless it has nothing of its own.
func (s *Sessions) Begin(own *Session) error {
	if own.Bare && own.About == nil {
		return nil
	}
	err := s.begin(own)
	s.keep(own)
	return err
}

// NewClient adds a client of a request without a connection to a session.
func (s *Sessions) NewClient(principal string, of *Session) *Client {
	return s.add(lifetime.RandomID(""), "http", principal, of, of, nil)
}

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

// Remove removes a client, and its session unless that belongs to the principal.
func (s *Sessions) Remove(c *Client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.connected, c.ID)
	if c.Session.By == "connection" {
		delete(s.open, c.Session.ID)
	}
}

// Bounds of the sessions that clients name.
const (
	maxSplits    = 1000   // of one principal
	maxSplitsAll = 10_000 // of all
)

var errSplits = errors.New("too many sessions are open under names that clients gave; use one of them again")

// shared returns the session that all requests of a principal with this label are in. It
// never opens a second one, which would double the budgets.
func (s *Sessions) shared(by, principal, label string) (*Session, error) {
	sum := sha256.Sum256([]byte(by + "\x00" + principal + "\x00" + label))
	id := by[:1] + "-" + hex.EncodeToString(sum[:16]) // a client that may choose its label must not find another's id
	if known := s.known(id); known != nil {
		return known, nil
	}
	s.making.Lock()
	defer s.making.Unlock()
	if known := s.known(id); known != nil {
		return known, nil
	}
	if isChosen(by) && !s.roomForSplit(principal) {
		return nil, errSplits
	}
	made := &Session{ID: id, Principal: principal, By: by, Label: label, Since: s.now(), Lasting: true, About: About{By: by, Label: label}.bytes()}
	_ = s.begin(made) // its calls are refused then
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[id] = made
	return made, nil
}

// isChosen reports whether callers choose the names of such sessions.
func isChosen(by string) bool { return by == "header" || by == "meta" || by == byAgent }

func (s *Sessions) known(id string) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[id]
}

// roomForSplit reports whether the principal may name one more session.
func (s *Sessions) roomForSplit(principal string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	own, all := 0, 0
	for _, o := range s.open {
		if isChosen(o.By) {
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

// Clients lists the clients that are connected.
func (s *Sessions) Clients() []*Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.connected))
}

// EndAgent forgets a session that is of an agent alone. It reports false of others.
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

// Uses has when a client of each session was used last.
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

// All lists the sessions, oldest first.
func (s *Sessions) All() []*Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Values(s.open), func(a, b *Session) int { return a.Since.Compare(b.Since) })
}

// Find returns the session with an id.
func (s *Sessions) Find(id string) (*Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found := s.open[id]; found != nil {
		return found, nil
	}
	return nil, fmt.Errorf("no session %q", id)
}

// Count returns the number of clients and of sessions.
func (s *Sessions) Count() (clients, open int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.connected), len(s.open)
}

// CountHTTP counts the sessions over HTTP of a principal, and of all principals.
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

// Use returns the client that opened the session with that Mcp-Session-Id, and records
// that the client is in use; nil: the principal has no such session.
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

// once returns the client with that id, or the one that add makes.
func (s *Sessions) once(id, principal string, add func() *Client) *Client {
	s.restoring.Lock()
	defer s.restoring.Unlock()
	if c := s.Use(id, principal); c != nil {
		return c
	}
	return add()
}

// keep notes that a session is open.
func (s *Sessions) keep(own *Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[own.ID] = own
}

// Seen reports whether a client was used since then.
func (s *Sessions) Seen(c *Client, since time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.seen.After(since)
}

// Idle reports whether a client was not used for ttl. A busy client is in use now.
func (s *Sessions) Idle(c *Client, busy bool, ttl time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if busy {
		c.seen = now
	}
	return !busy && now.Sub(c.seen) > ttl
}

// A Session is what calls share: the state of the nets, and, of a connection, tasks and
// dedicated connections to servers.
type Session struct {
	ID        string
	Principal string
	By        string // connection, principal, name, header, meta or agent; see [Sessions.Of]
	Label     string // that tells it from the others of the principal
	Since     time.Time
	Lasting   bool        // it outlives the process, where states do
	About     []byte      // what other processes are to know of it; nil: nothing
	Left      atomic.Bool // this process serves it no more, and others may
	Bare      bool        // of a connection whose calls are about the nets of another session
	Ended     atomic.Bool // no call begins in the session any more
	Narrowed  atomic.Bool // a client was shown only the tools that the session's nets let pass
}

// Key returns the key under which the admission keeps the session's state.
func (s *Session) Key() admission.Key { return admission.Key{Session: s.ID, Principal: s.Principal} }
