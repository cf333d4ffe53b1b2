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

// Begin opens the session of a connection. If the connection's calls use the nets of another
// session, Begin opens the connection's own session only if it must be stored for other replicas.
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

// Introduce opens the session of an HTTP client after the handshake. If several replicas share a
// database, it also stores an [About] there, so that another replica can continue the session.
// After an error, the caller must end the client.
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

// Kept returns the ID of the session that belongs to the given client ID. A replica uses the
// session ID to look up an HTTP session that another replica has stored. Kept returns "" if
// replicas do not share sessions.
func (s *Sessions) Kept(client string) string {
	if !s.kept {
		return ""
	}
	return idOf(client)
}

// Restore returns the client of an HTTP session that another replica opened, or that this one
// opened before a restart. It adds the client if necessary. clientID is the Mcp-Session-Id sent by
// the client, and info describes the stored session. Restore returns nil if the session belongs to
// another client or principal. It also returns nil if the connection's calls use the nets of
// another session, and that session cannot be opened.
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

// stateOf returns the session whose nets apply to the calls of a restored connection. label is the
// session name from the client's header, or "" if there was no header.
func (s *Sessions) stateOf(own *Session, label string) (*Session, error) {
	o := Origin{Principal: own.Principal, Connection: own}
	if label != "" {
		o.Header = http.Header{http.CanonicalHeaderKey(s.way.Header): {label}}
	}
	return s.Of(o)
}

// idOf derives a session ID from a client ID. The client ID is a secret shared by the proxy and the
// principal; the session ID is not secret.
func idOf(client string) string {
	return wire.Digest([]byte("session\x00" + client))[:16]
}
