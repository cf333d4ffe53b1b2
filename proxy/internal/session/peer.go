package session

import (
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/spec"
)

// A Peer is a client's description of itself (clientInfo, capabilities and protocol version).
// Clients send it in initialize or, since revision 2026-07-28, in each request.
type Peer struct {
	Name, Version string // name and version of the client; for display only, because a client can claim any name
	Protocol      string
	Rev           *rev.Rev
	Elicit        bool   // whether the client can show forms (elicitation in form mode)
	Capabilities  []byte // capabilities as the client has declared them
}

// shortened returns the name, shortened if it is too long for an audit record.
func shortened(name string) string {
	if len(name) <= audit.MaxText {
		return name
	}
	return audit.Bounded(name)
}

// Forwarded returns the client capabilities that the proxy declares to servers on behalf of the
// client. It leaves out the capability to run a server's requests as tasks (tasks.requests in
// revision 2025-11-25), so that servers send requests without tasks.
func (p Peer) Forwarded() []byte {
	if p.Rev.PerRequest {
		return forwardedCapabilities(p.Capabilities)
	}
	if p.Capabilities == nil {
		return []byte(`{}`)
	}
	return p.Capabilities
}

// forwardedCapabilities returns the client capabilities that a server can use through the proxy:
// roots, sampling and elicitation.
func forwardedCapabilities(capabilities []byte) []byte {
	var forwarded rawjson.Object
	for _, name := range []string{"roots", "sampling", "elicitation"} {
		if value, _ := rawjson.Member(capabilities, name); rawjson.Kind(value) == '{' {
			forwarded = forwarded.Raw(name, value)
		}
	}
	return forwarded.Bytes()
}

// canElicit reports whether the capabilities allow elicitation/create with a form: the member
// "elicitation" must declare the mode "form" or no mode at all.
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

// Answers reports whether the client has declared the capability that a server's request requires.
func (p Peer) Answers(method string, params []byte) bool {
	switch method {
	case "roots/list":
		_, ok := rawjson.Member(p.Capabilities, "roots")
		return ok
	case "sampling/createMessage":
		_, ok := rawjson.Member(p.Capabilities, "sampling")
		return ok
	case "elicitation/create":
		if rawjson.StringAt(params, "mode") != "url" {
			return p.Elicit
		}
		return p.OpensURL()
	}
	return false
}

// OpensURL reports whether the client can open a page for its user (elicitation in URL mode).
func (p Peer) OpensURL() bool { return spec.Declares(p.Capabilities, "elicitation", "url") }

// TakesTasks reports whether a client that uses revision 2026-07-28 accepts a task as the result of
// a call.
func (p Peer) TakesTasks() bool {
	return p.Rev.TaskExtension && spec.Declares(p.Capabilities, "extensions", spec.TasksExtension)
}
