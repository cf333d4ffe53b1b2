package clientcfg

import (
	"slices"

	"github.com/petrigate/petrigate/internal/clientcfg/splice"
)

// A Server is one entry of a client's server list, translated into a server for petrigate's
// configuration.
type Server struct {
	Name   string
	Fields splice.Object // fields of the server in petrigate's configuration; nil if the entry is refused

	// Refused explains why the entry cannot be imported. It is empty if the entry can be imported.
	Refused string
	// Native reports whether the entry stands for a built-in feature of the client and not for a
	// server.
	Native bool
	// Dropped lists the keys that have no meaning outside the client.
	Dropped []string
	// Literal names the variables, headers and arguments that probably contain literal secrets.
	Literal []string
	// Left lists the restrictions in the entry that have no equivalent setting in petrigate.
	Left []Safeguard
	// Closed is a key that disables the server but is not part of the entry. It may be empty.
	Closed string
	// Notes holds other things the user should know, one sentence each.
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
