package proxy

import (
	"github.com/petrigate/petrigate/internal/rawjson"
)

// What clients can do of what upstreams ask of them, as they have declared it.

// relayed is what the client declared of what an upstream may use through us.
// The tasks of 2025-11-25 that clients make of requests of servers
// (capability tasks.requests) are not offered: servers ask without.
func (a agent) relayed() []byte {
	if a.rev.PerRequest {
		return relayedCapabilities(a.capabilities)
	}
	if a.capabilities == nil {
		return []byte(`{}`)
	}
	return a.capabilities
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
func (a *agent) declared(capabilities []byte) {
	a.elicit, a.capabilities = canElicit(capabilities), relayedCapabilities(capabilities)
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
