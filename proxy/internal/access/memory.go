package access

import (
	"crypto/sha256"
	"sync"
	"time"
)

// maxRemembered is the maximum number of cached grants.
const maxRemembered = 4096

// A grantCache caches the grants of valid tokens, keyed by the tokens' digests, because verifying a
// signature takes longer than the rest of a call. An entry is valid only for one key set.
type grantCache struct {
	mu     sync.Mutex
	grants map[[sha256.Size]byte]remembered
}

type remembered struct {
	grant Grant
	set   int // number of the key set
}

// get returns the cached grant for a token, provided that the token was verified with the given key
// set and has not expired.
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
