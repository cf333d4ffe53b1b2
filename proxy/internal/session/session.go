package session

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/admission"
)

// A Session is the state that calls share: the nets and, for a connection, tasks and dedicated
// connections to servers.
type Session struct {
	ID        string
	Principal string
	By        string // connection, principal, name, header, meta or agent; see [Sessions.Of]
	Label     string // distinguishes the session from others of the principal
	Since     time.Time
	Lasting   bool        // outlives the process if the states do
	About     []byte      // encoded [About] for other replicas; nil: not stored
	Left      atomic.Bool // this process no longer serves the session, but other replicas might
	Bare      bool        // session of a connection whose calls use the nets of another session
	Ended     atomic.Bool // no further call begins in the session
	Narrowed  atomic.Bool // a client was shown only the tools that the session's nets admit
}

// Key returns the key of the session's state in the admission.
func (s *Session) Key() admission.Key { return admission.Key{Session: s.ID, Principal: s.Principal} }

// byAgent is Session.By of the sessions that an agent's hooks name.
const byAgent = "agent"

// OfAgent reports whether the session belongs to an agent's hooks alone; see [Sessions.OfAgent].
func (s *Session) OfAgent() bool { return s.By == byAgent }

// A Way configures which session a call is in. The zero value is "connection".
type Way struct {
	By     string // "connection", "principal", "name", "header" or "meta"; empty: "connection"
	Name   string // session name, for "name"
	Header string // header that names the session, for "header"
	Meta   string // key of _meta that names the session, for "meta"
}

// An Origin holds the parts of a request that determine its session.
type Origin struct {
	Principal  string
	Connection *Session    // session of the connection, or one issued by the proxy; nil: none
	Header     http.Header // nil: the transport has no headers
	Params     []byte
}

// Of returns the session whose nets decide on a request, and opens it if necessary. This is the
// only place where the session is chosen. A name chosen by the client only splits the sessions of
// its principal, and an id that the proxy did not issue never names a session.
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
		meta, _ := rawjson.Member(o.Params, "_meta")
		if value, given := rawjson.Member(meta, s.way.Meta); given {
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

// maxLabel is the maximum length in bytes of a session name chosen by a client.
const maxLabel = 128

// split returns the session with that name among those of a principal.
func (s *Sessions) split(by, what, principal, label string) (*Session, error) {
	unprintable := !utf8.ValidString(label) || strings.ContainsFunc(label, func(r rune) bool { return !unicode.IsPrint(r) })
	if label == "" || len(label) > maxLabel || unprintable {
		return nil, fmt.Errorf("%s has to name a session by 1 to %d printable characters", what, maxLabel)
	}
	return s.shared(by, principal, label)
}

// OfAgent returns the session whose nets decide on the calls that an agent reports through its
// hooks, under the agent's own session id. If sessions belong to connections, the agent's session
// gets its own; otherwise the same rule applies as for clients of the principal.
func (s *Sessions) OfAgent(principal, label string, header http.Header) (*Session, error) {
	if s.way.By != "" && s.way.By != "connection" {
		return s.Of(Origin{Principal: principal, Header: header})
	}
	return s.split(byAgent, "the session_id", principal, label)
}

// OfCall returns the session whose nets decide on a client's call.
func (s *Sessions) OfCall(c *Client, params []byte) (*Session, error) {
	if s.way.By != "meta" {
		return c.State, nil
	}
	return s.Of(Origin{Principal: c.Principal, Connection: c.Session, Params: params})
}

// Agrees returns an error if the header of a request names another session than the request that
// connected the client.
func (s *Sessions) Agrees(c *Client, header http.Header) error {
	if s.way.By != "header" || len(header.Values(s.way.Header)) == 0 {
		return nil
	}
	state, err := s.Of(Origin{Principal: c.Principal, Connection: c.Session, Header: header})
	if err == nil && state != c.State {
		err = fmt.Errorf("the header %s names another session than in initialize", s.way.Header)
	}
	return err
}
