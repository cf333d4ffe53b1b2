package session

import (
	"fmt"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// A Way says which session a call is in. The zero value is "connection".
type Way struct {
	By     string // "connection", "principal", "name", "header" or "meta"; empty: "connection"
	Name   string // with "name"
	Header string // with "header"
	Meta   string // with "meta": a key of _meta
}

// An Origin is where a request comes from, as far as its session depends on it.
type Origin struct {
	Principal  string
	Connection *Session    // of its connection, or issued by the proxy; nil: the request carries none
	Header     http.Header // nil: it has none
	Params     []byte
}

// Of returns the session whose nets a request is about, and opens it if need be. Nowhere
// else is this decided. A name that the client gives only splits what its principal has,
// and an id that the proxy did not issue never names a session.
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

// byAgent is how a session is told from others that an agent names, by its hooks.
const byAgent = "agent"

// maxLabel is the largest number of bytes in the name of a session that a client gives.
const maxLabel = 128

// split returns the session of that name among those of a principal.
func (s *Sessions) split(by, what, principal, label string) (*Session, error) {
	unprintable := !utf8.ValidString(label) || strings.ContainsFunc(label, func(r rune) bool { return !unicode.IsPrint(r) })
	if label == "" || len(label) > maxLabel || unprintable {
		return nil, fmt.Errorf("%s has to name a session by 1 to %d printable characters", what, maxLabel)
	}
	return s.shared(by, principal, label)
}

// OfAgent returns the session whose nets decide on calls that an agent tells of by its hooks,
// in what the agent calls a session: one for that alone where sessions are those of connections,
// and else that of its principal, as for clients.
func (s *Sessions) OfAgent(principal, label string, header http.Header) (*Session, error) {
	if s.way.By != "" && s.way.By != "connection" {
		return s.Of(Origin{Principal: principal, Header: header})
	}
	return s.split(byAgent, "the session_id", principal, label)
}

// OfAgent reports whether the session is of an agent alone, see [Sessions.OfAgent].
func (s *Session) OfAgent() bool { return s.By == byAgent }

// OfCall returns the session whose nets decide on a call of a client.
func (s *Sessions) OfCall(c *Client, params []byte) (*Session, error) {
	if s.way.By != "meta" {
		return c.State, nil
	}
	return s.Of(Origin{Principal: c.Principal, Connection: c.Session, Params: params})
}

// Agrees returns an error where the header of a request names another session than that of
// the request by which its client connected.
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
