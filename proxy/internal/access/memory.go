package access

import (
	"crypto/sha256"
	"sync"
	"time"
)

// maxRemembered limits the tokens whose verification is cached.
const maxRemembered = 4096

// grantCache caches the grants of valid tokens by their digests, because verifying a signature
// costs more than the call itself. An entry is valid for one set of keys.
type grantCache struct {
	mu     sync.Mutex
	grants map[[sha256.Size]byte]remembered
}

type remembered struct {
	grant Grant
	set   int // number of the set of keys
}

// get returns the cached grant of a token, if it was verified with this key set and has not
// expired.
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
