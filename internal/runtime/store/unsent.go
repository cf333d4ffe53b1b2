package store

import (
	"sync"

	"github.com/petrigate/petrigate/internal/runtime/admission"
)

// admitted is a call that is, or may be, admitted in the database but was not sent.
type admitted struct {
	session admission.Key
	call    uint64
	record  string
}

// uncertainCalls holds the calls whose admissions might or might not have been committed. Their
// callers were refused.
type uncertainCalls struct {
	calls   []admitted
	records int // number of records in the uncertain commits
}

// unsent holds calls that were admitted in the database although their callers were refused.
type unsent struct {
	mu    sync.Mutex
	calls []admitted
}

func (u *unsent) add(c admitted) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.calls = append(u.calls, c)
}

func (u *unsent) takeAll() []admitted {
	u.mu.Lock()
	defer u.mu.Unlock()
	calls := u.calls
	u.calls = nil
	return calls
}
