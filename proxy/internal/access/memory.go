package access

import (
	"crypto/sha256"
	"sync"
	"time"
)

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
