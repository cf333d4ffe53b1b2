package postgres

import (
	"sync"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// loadQueue holds the calls to [DB.Load] that wait while a round trip is in progress. All waiting
// calls share the next round trip, which takes barely longer than a round trip for a single call.
// This helps if clients move between replicas, because each tool call then begins with a load. If
// no round trip is in progress, a call is sent immediately.
type loadQueue struct {
	mu      sync.Mutex
	running bool
	waiting []*loadCall
}

type loadCall struct {
	ids   []backend.PartID
	parts []backend.Part
	err   error
	ended chan struct{} // closed when parts or err is set
}

// maxBatchedParts is the maximum number of parts of the state that are loaded per round trip. If a
// single call needs more parts, the round trip loads all of them.
const maxBatchedParts = 64

// add queues a call. It reports whether the caller must start a goroutine that answers the queued
// calls.
func (l *loadQueue) add(one *loadCall) (first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = append(l.waiting, one)
	first = !l.running
	l.running = true
	return first
}

// next removes the next calls to [DB.Load] from the queue. It returns these calls and the IDs of
// all parts that they load. If no calls are waiting, it returns nil, and the queue becomes idle.
func (l *loadQueue) next() (some []*loadCall, ids []backend.PartID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for ; n < len(l.waiting) && (n == 0 || len(ids)+len(l.waiting[n].ids) <= maxBatchedParts); n++ {
		ids = append(ids, l.waiting[n].ids...)
	}
	some, l.waiting = l.waiting[:n:n], l.waiting[n:]
	l.running = n > 0
	return some, ids
}
