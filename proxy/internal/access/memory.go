package access

import (
	"crypto/sha256"
	"sync"
	"time"
)

// maxRemembered bounds the tokens whose verification is remembered.
const maxRemembered = 4096

// memory is which tokens were found good, by their digest: a signature costs
// more than the call that it is for. What was found holds for one set of keys.
type memory struct {
	mu     sync.Mutex
	grants map[[sha256.Size]byte]remembered
}

type remembered struct {
	grant Grant
	set   int // number of the set of keys
}

// recall is the grant of a token, if it was found good with this set and has
// not expired.
func (m *memory) recall(digest [sha256.Size]byte, set int, now time.Time) (Grant, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.grants[digest]
	if !ok || r.set != set || !now.Before(r.grant.Expires) {
		return Grant{}, false
	}
	return r.grant, true
}

func (m *memory) keep(digest [sha256.Size]byte, set int, g Grant) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.grants == nil || len(m.grants) >= maxRemembered {
		m.grants = map[[sha256.Size]byte]remembered{}
	}
	m.grants[digest] = remembered{g, set}
}
