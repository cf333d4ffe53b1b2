package access

import (
	"crypto/sha256"
	"net/url"
	"sync"
	"time"
)

// A Verifier verifies tokens. It is safe for concurrent use.
type Verifier struct {
	options   Options
	keys      *keys
	memory    grantCache
	resource  *url.URL
	challenge string
}

// A Kind is a kind of [Denial].
type Kind int

// Kinds of denials.
const (
	Missing     Kind = iota // the token is missing
	Invalid                 // the token is invalid
	Scope                   // the token is valid but lacks a required scope
	Unavailable             // the token cannot be verified, because the issuer's keys are unavailable
)

// A Denial explains why [Verifier.Verify] has rejected a token. Its text may be sent to the client.
// It contains no part of the token.
type Denial struct {
	Kind   Kind
	Reason string
}

func (d *Denial) Error() string { return d.Reason }

func invalid(reason string) error { return &Denial{Kind: Invalid, Reason: reason} }

// A Grant is the result of verifying a token successfully.
type Grant struct {
	Principal string    // issuer and subject; together, they are unique for each caller
	Expires   time.Time // expiry time of the token, plus the leeway
}

// maxRemembered is the maximum number of cached grants.
const maxRemembered = 4096

// A grantCache caches the grants of valid tokens, because verifying a signature takes longer than
// the rest of a call. The keys are the digests of the tokens. An entry is valid for only one key
// set.
type grantCache struct {
	mu     sync.Mutex
	grants map[[sha256.Size]byte]remembered
}

type remembered struct {
	grant Grant
	set   int // number of the key set
}

// get returns the cached grant for a token. The token must have been verified with the given key
// set and must not have expired.
func (m *grantCache) get(digest [sha256.Size]byte, set int, now time.Time) (Grant, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.grants[digest]
	if !ok || r.set != set || !now.Before(r.grant.Expires) {
		return Grant{}, false
	}
	return r.grant, true
}

func (m *grantCache) put(digest [sha256.Size]byte, set int, g Grant) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.grants == nil || len(m.grants) >= maxRemembered {
		m.grants = map[[sha256.Size]byte]remembered{}
	}
	m.grants[digest] = remembered{g, set}
}
