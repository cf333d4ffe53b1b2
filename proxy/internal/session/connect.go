package session

import (
	"crypto/subtle"
	"net/http"

	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Connect adds a client and a session for its connection. header contains the HTTP headers of the
// connecting request; it is nil for stdio.
func (s *Sessions) Connect(transport, principal string, header http.Header, out spec.Stream) (*Client, error) {
	id := lifetime.RandomID("")
	own := &Session{ID: idOf(id), Principal: principal, By: "connection", Since: s.now()}
	state, err := s.Of(Origin{Principal: principal, Connection: own, Header: header})
	if err != nil {
		return nil, err
	}
	own.Bare = state != own
	if transport != "http" {
		_ = s.Begin(own) // after an error, the session's calls are refused
	}
	return s.add(id, transport, principal, own, state, out), nil
}

// Begin begins the session of a connection if the connection's calls use the session's nets, or if
// other replicas must be able to find the session. Otherwise, it does nothing.
func (s *Sessions) Begin(own *Session) error {
	if own.Bare && own.About == nil {
		return nil
	}
	err := s.begin(own)
	s.keep(own)
	return err
}

// NewClient adds a client to a session, for a request without a connection.
func (s *Sessions) NewClient(principal string, of *Session) *Client {
	return s.add(lifetime.RandomID(""), "http", principal, of, of, nil)
}

// Introduce begins the session of an HTTP client after the handshake. If the states are in a shared
// database, it first stores the session there, so that the client can continue it on another
// replica. If Introduce fails, the client cannot continue the session elsewhere.
func (s *Sessions) Introduce(c *Client) error {
	if s.kept {
		peer, label := c.Peer(), ""
		if c.State.By == "header" {
			label = c.State.Label
		}
		c.Session.Lasting, c.Session.About = true, About{
			By: "connection", Client: wire.Digest([]byte(c.ID)), State: label,
			Protocol: peer.Protocol, Name: peer.Name, Version: peer.Version, Elicit: peer.Elicit, Capabilities: peer.Capabilities,
		}.bytes()
	}
	return s.Begin(c.Session)
}

// Kept returns the ID of the session stored for a client ID, or "" if replicas do not share
// sessions. A replica uses it to look up the HTTP session of an unknown client.
func (s *Sessions) Kept(client string) string {
	if !s.kept {
		return ""
	}
	return idOf(client)
}

// Restore returns the client of an HTTP session opened by another replica, or by this one before a
// restart, and adds the client unless it has already been restored. clientID is the Mcp-Session-Id
// sent by the client, and info describes the stored session. Restore returns nil if the session
// does not belong to both that ID and the principal, or if the session whose nets decide the calls
// cannot be opened.
func (s *Sessions) Restore(clientID, principal string, info admission.SessionInfo, out spec.Stream) *Client {
	a := ReadAbout(info.About)
	if info.Principal != principal || a.By != "connection" || subtle.ConstantTimeCompare([]byte(a.Client), []byte(wire.Digest([]byte(clientID)))) != 1 {
		return nil
	}
	return s.addOnce(clientID, principal, func() *Client { return s.restore(clientID, &info, a, out) })
}

func (s *Sessions) restore(clientID string, info *admission.SessionInfo, a About, out spec.Stream) *Client {
	own := &Session{ID: info.Session, Principal: info.Principal, By: "connection", Since: info.Since, Lasting: true, About: info.About}
	state, err := s.stateOf(own, a.State)
	if err != nil {
		return nil
	}
	own.Bare = state != own
	c := s.add(clientID, "http", own.Principal, own, state, out)
	c.peer.Store(&Peer{Name: a.Name, Version: a.Version, Protocol: a.Protocol, Rev: rev.Rev2025, Elicit: a.Elicit, Capabilities: a.Capabilities})
	c.Ready.Store(true)
	s.keep(own)
	return c
}

// stateOf returns the session whose nets decide the calls of a restored connection.
func (s *Sessions) stateOf(own *Session, label string) (*Session, error) {
	o := Origin{Principal: own.Principal, Connection: own}
	if label != "" {
		o.Header = http.Header{http.CanonicalHeaderKey(s.way.Header): {label}}
	}
	return s.Of(o)
}

// idOf returns the session ID for a client ID. Unlike the client ID, which only the principal
// knows, the session ID is not secret.
func idOf(client string) string {
	return wire.Digest([]byte("session\x00" + client))[:16]
}
