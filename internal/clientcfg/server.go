package clientcfg

import (
	"slices"

	"github.com/petrigate/petrigate/internal/clientcfg/splice"
)

// A Server is an entry in a client's file, translated into a server for petrigate's configuration.
type Server struct {
	Name   string
	Fields splice.Object // fields in petrigate's configuration; nil if the entry is refused

	// Refused explains why the entry cannot be imported; empty if it can.
	Refused string
	// Native reports whether the entry is a built-in part of the client rather than a server.
	Native bool
	// Dropped lists the keys that have no meaning outside the client.
	Dropped []string
	// Literal names the variables, headers and arguments that probably contain literal secrets.
	Literal []string
	// Left lists the entry's restrictions that petrigate has no setting for.
	Left []Safeguard
	// Closed is the key outside the entry that disables the server; may be empty.
	Closed string
	// Notes contains further sentences for the user.
	Notes []string
}

// Disable marks the server as disabled by a key outside its entry.
func (s *Server) Disable(key string) {
	if s.Fields == nil || slices.ContainsFunc(s.Fields, func(m splice.Member) bool { return m.Key == "disabled" }) {
		return
	}
	s.Fields = append(s.Fields, splice.Member{Key: "disabled", Value: true})
	s.Closed = key
}
