package session

import (
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/serve/audit"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/spec"
)

// agent is what a client says about itself, in its handshake or, since
// 2026-07-28, with each request.
type Peer struct {
	Name, Version string // for people to read; nobody vouches for them
	Protocol      string
	Rev           *rev.Rev
	Elicit        bool   // it declared that it can show a form
	Capabilities  []byte // as it declared them
}

// brief is a name that is kept as it is, unless it is too long for a record.
func brief(name string) string {
	if len(name) <= audit.MaxText {
		return name
	}
	return audit.Bounded(name)
}

// What clients can do of what upstreams ask of them, as they have declared it.

// Relayed is what the client declared of what an upstream may use through us.
// The tasks of 2025-11-25 that clients make of requests of servers
// (capability tasks.requests) are not offered: servers ask without.
func (p Peer) Forwarded() []byte {
	if p.Rev.PerRequest {
		return forwardedCapabilities(p.Capabilities)
	}
	if p.Capabilities == nil {
		return []byte(`{}`)
	}
	return p.Capabilities
}

// relayedCapabilities returns the members of a client's capabilities that an
// upstream may use through us: roots, sampling, elicitation.
func forwardedCapabilities(capabilities []byte) []byte {
	b := []byte{'{'}
	for _, name := range []string{"roots", "sampling", "elicitation"} {
		value, ok := rawjson.Member(capabilities, name)
		if !ok || rawjson.Kind(value) != '{' {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(append(append(b, '"'), name...), `":`...), value...)
	}
	return append(b, '}')
}

// declared notes the capabilities of a client with a handshake of that revision.
func (p *Peer) declare(capabilities []byte) {
	p.Elicit, p.Capabilities = canElicit(capabilities), forwardedCapabilities(capabilities)
}

// canElicit reports whether capabilities allow a form: elicitation as it was
// first defined, or with a member form.
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

// Answers reports whether the client declared that it answers such a request.
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
		elicitation, _ := rawjson.Member(p.Capabilities, "elicitation")
		_, ok := rawjson.Member(elicitation, "url")
		return ok
	}
	return false
}

// TakesTasks reports whether a client of 2026-07-28 takes a task for an answer.
func (p Peer) TakesTasks() bool {
	return p.Rev.TaskExtension && spec.Declares(p.Capabilities, "extensions", spec.TasksExtension)
}
