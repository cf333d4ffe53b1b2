package clientcfg

import (
	"slices"

	"github.com/petrigate/petrigate/internal/clientcfg/splice"
)

// A Server is an entry of a client, translated into a server of petrigate's configuration.
type Server struct {
	Name   string
	Fields splice.Object // fields of the configuration; nil if the entry is refused

	// Refused is the reason why the entry cannot be imported; empty if it can.
	Refused string
	// Native is set for an entry that is a built-in part of the client, not a server.
	Native bool
	// Dropped lists keys that have no meaning outside the client.
	Dropped []string
	// Literal names the variables, headers and arguments whose values are probably secrets and are
	// written literally.
	Literal []string
	// Left lists restrictions of the entry that a server of petrigate does not have.
	Left []Safeguard
	// Closed is the key outside the entry that disables the server, or "".
	Closed string
	// Notes are further sentences for the user.
	Notes []string
}

// Disable marks the server as disabled, because of a key of the client outside its entry.
func (s *Server) Disable(key string) {
	if s.Fields == nil || slices.ContainsFunc(s.Fields, func(m splice.Member) bool { return m.Key == "disabled" }) {
		return
	}
	s.Fields = append(s.Fields, splice.Member{Key: "disabled", Value: true})
	s.Closed = key
}
