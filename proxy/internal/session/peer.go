package session

import (
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/spec"
)

// A Peer is what a client says about itself (clientInfo, capabilities and the protocol
// version): in initialize or, since 2026-07-28, in each request.
type Peer struct {
	Name, Version string // for people to read; nobody vouches for them
	Protocol      string
	Rev           *rev.Rev
	Elicit        bool   // the client declared that it can show a form
	Capabilities  []byte // as the client declared them
}

// brief returns a name, shortened if it is too long for an audit record.
func brief(name string) string {
	if len(name) <= audit.MaxText {
		return name
	}
	return audit.Bounded(name)
}

// Forwarded returns the client's capabilities that the proxy declares to servers in its
// place. It leaves out tasks of clients (tasks.requests of 2025-11-25): servers then
// send their requests without.
func (p Peer) Forwarded() []byte {
	if p.Rev.PerRequest {
		return forwardedCapabilities(p.Capabilities)
	}
	if p.Capabilities == nil {
		return []byte(`{}`)
	}
	return p.Capabilities
}

// forwardedCapabilities returns the members of a client's capabilities that a server
// may use through the proxy: roots, sampling, elicitation.
func forwardedCapabilities(capabilities []byte) []byte {
	var forwarded rawjson.Object
	for _, name := range []string{"roots", "sampling", "elicitation"} {
		if value, _ := rawjson.Member(capabilities, name); rawjson.Kind(value) == '{' {
			forwarded = forwarded.Raw(name, value)
		}
	}
	return forwarded.Bytes()
}

// canElicit reports whether capabilities allow elicitation/create with a form: the
// member elicitation names form, or no mode at all.
func canElicit(capabilities []byte) bool {
	e, ok := rawjson.Member(capabilities, "elicitation")
	if !ok || rawjson.Kind(e) != '{' {
		return false
	}
	if _, form := rawjson.Member(e, "form"); form {
		return true
	}
	_, url := rawjson.Member(e, "url")
	return !url
}

// Answers reports whether the client declared the capability for a request of a server.
func (p Peer) Answers(method string, params []byte) bool {
	switch method {
	case "roots/list":
		_, ok := rawjson.Member(p.Capabilities, "roots")
		return ok
	case "sampling/createMessage":
		_, ok := rawjson.Member(p.Capabilities, "sampling")
		return ok
	case "elicitation/create":
		if spec.Member(params, "mode") != "url" {
			return p.Elicit
		}
		return p.OpensURL()
	}
	return false
}

// OpensURL reports whether the client can send its person to a page (elicitation in URL mode).
func (p Peer) OpensURL() bool { return spec.Declares(p.Capabilities, "elicitation", "url") }

// TakesTasks reports whether a client of 2026-07-28 accepts a task as the result of a call.
func (p Peer) TakesTasks() bool {
	return p.Rev.TaskExtension && spec.Declares(p.Capabilities, "extensions", spec.TasksExtension)
}
