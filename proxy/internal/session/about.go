package session

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"net/http"

	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/spec"
)

// An About is what other processes are to know of a session.
type About struct {
	By    string `json:"by"`
	Label string `json:"name,omitempty"`

	// Of a session over HTTP with a handshake.
	Client       string          `json:"client,omitempty"` // SHA-256 of the id that the client has
	State        string          `json:"state,omitempty"`  // label of the session whose nets its calls are about
	Protocol     string          `json:"protocol,omitempty"`
	Name         string          `json:"clientName,omitempty"`
	Version      string          `json:"clientVersion,omitempty"`
	Elicit       bool            `json:"elicit,omitempty"`
	Capabilities json.RawMessage `json:"capabilities,omitempty"`
}

// ReadAbout reads what is known of a session of another process. The zero value is of one
// of which nothing is.
func ReadAbout(data []byte) (a About) {
	if json.Unmarshal(data, &a) != nil {
		return About{}
	}
	return a
}

func (a About) bytes() []byte {
	data, err := json.Marshal(a)
	if err != nil {
		return nil // capabilities that are no JSON were not taken
	}
	return data
}

// Introduce begins the session of a client over HTTP after its handshake. Where states are
// shared, other processes can then serve it. After an error they cannot.
func (s *Sessions) Introduce(c *Client) error {
	if s.kept {
		peer, label := c.Peer(), ""
		if c.State.By == "header" {
			label = c.State.Label
		}
		c.Session.Lasting, c.Session.About = true, About{
			By: "connection", Client: digestOf(c.ID), State: label,
			Protocol: peer.Protocol, Name: peer.Name, Version: peer.Version, Elicit: peer.Elicit, Capabilities: peer.Capabilities,
		}.bytes()
	}
	return s.Begin(c.Session)
}

func digestOf(client string) string {
	sum := sha256.Sum256([]byte(client))
	return hex.EncodeToString(sum[:])
}

// Kept returns the id under which the session of a client's id is kept; empty: none is kept.
func (s *Sessions) Kept(client string) string {
	if !s.kept {
		return ""
	}
	return idOf(client)
}

// Restore adds a client whose session another process has opened, or this one before it
// was started again. It returns nil where the session is not that client's.
func (s *Sessions) Restore(client, principal string, info admission.SessionInfo, out spec.Stream) *Client {
	a := ReadAbout(info.About)
	if info.Principal != principal || a.By != "connection" || subtle.ConstantTimeCompare([]byte(a.Client), []byte(digestOf(client))) != 1 {
		return nil
	}
	return s.once(client, principal, func() *Client { return s.restore(client, &info, a, out) })
}

func (s *Sessions) restore(client string, info *admission.SessionInfo, a About, out spec.Stream) *Client {
	own := &Session{ID: info.Session, Principal: info.Principal, By: "connection", Since: info.Since, Lasting: true, About: info.About}
	state, err := s.stateOf(own, a.State)
	if err != nil {
		return nil
	}
	own.Bare = state != own
	c := s.add(client, "http", own.Principal, own, state, out)
	c.peer.Store(&Peer{Name: a.Name, Version: a.Version, Protocol: a.Protocol, Rev: rev.Rev2025, Elicit: a.Elicit, Capabilities: a.Capabilities})
	c.Ready.Store(true)
	s.keep(own)
	return c
}

// stateOf returns the session whose nets the calls of a restored connection are about.
func (s *Sessions) stateOf(own *Session, label string) (*Session, error) {
	o := Origin{Principal: own.Principal, Connection: own}
	if label != "" {
		o.Header = http.Header{http.CanonicalHeaderKey(s.way.Header): {label}}
	}
	return s.Of(o)
}
