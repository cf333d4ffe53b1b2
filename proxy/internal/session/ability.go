package session

import (
	"github.com/petrigate/petrigate/internal/rawjson"
)

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
