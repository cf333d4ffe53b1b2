package session

import (
	"github.com/petrigate/petrigate/internal/rawjson"
)

// What clients can do of what upstreams ask of them, as they have declared it.

// Relayed is what the client declared of what an upstream may use through us.
// The tasks of 2025-11-25 that clients make of requests of servers
// (capability tasks.requests) are not offered: servers ask without.
func (a Peer) Relayed() []byte {
	if a.Rev.PerRequest {
		return relayedCapabilities(a.Capabilities)
	}
	if a.Capabilities == nil {
		return []byte(`{}`)
	}
	return a.Capabilities
}

// relayedCapabilities returns the members of a client's capabilities that an
// upstream may use through us: roots, sampling, elicitation.
func relayedCapabilities(capabilities []byte) []byte {
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
func (a *Peer) declared(capabilities []byte) {
	a.Elicit, a.Capabilities = canElicit(capabilities), relayedCapabilities(capabilities)
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
