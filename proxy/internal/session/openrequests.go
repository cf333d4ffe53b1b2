package session

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// openRequests holds the requests of one client that have no answer yet. The zero value
// is empty.
type openRequests struct {
	mu   sync.Mutex
	byID map[string]canceller // by the id on the wire
	open int                  // requests whose answer is not written yet
	past []string             // ids of the last requests that have ended, each of few bytes
	idle chan struct{}        // closed when open becomes 0; nil: nobody waits for that
}

// A canceller is a request of a client that has not been answered.
type canceller interface {
	Cancel(reason error)
}

// A CancelFunc cancels a request that is not a call.
type CancelFunc context.CancelCauseFunc

func (f CancelFunc) Cancel(reason error) { f(reason) }

// Begin adds a request under its id. It reports false if that id is in flight.
func (r *openRequests) Begin(id string, request canceller) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, busy := r.byID[id]; busy {
		return false
	}
	if r.byID == nil {
		r.byID = map[string]canceller{}
	}
	r.byID[id] = request
	r.open++
	return true
}

// End removes a request: the client may use its id again.
func (r *openRequests) End(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byID, id)
	if len(id) > maxPastBytes {
		return
	}
	if len(r.past) >= maxPast {
		r.past = slices.Delete(r.past, 0, 1)
	}
	r.past = append(r.past, id)
}

// The ids of so many requests that have ended are known, if they are not longer.
const (
	maxPast      = 64
	maxPastBytes = 40
)

// Knows reports whether the request that notifications/cancelled names is in flight here, or
// was until lately.
func (r *openRequests) Knows(params []byte) bool {
	id, ok := rawjson.Member(params, "requestId")
	if !ok {
		return true // it names none
	}
	key := wire.IDKey(id)
	r.mu.Lock()
	defer r.mu.Unlock()
	_, open := r.byID[key]
	return open || len(key) > maxPastBytes || slices.Contains(r.past, key)
}

// Answered records that the answer to a request is written, or that it gets none.
func (r *openRequests) Answered() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open > 0 {
		r.open--
	}
	if r.open == 0 && r.idle != nil {
		close(r.idle)
		r.idle = nil
	}
}

// Drained returns a channel that is closed when every request has its answer.
func (r *openRequests) Drained() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	idle := make(chan struct{})
	if r.open == 0 {
		close(idle)
	} else {
		r.idle = idle
	}
	return idle
}

// Any reports whether a request is in flight.
func (r *openRequests) Any() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.byID) > 0
}

// Cancelled cancels the request that notifications/cancelled names. The id must be of
// the same JSON type too: the string "7" does not cancel the number 7.
func (r *openRequests) Cancelled(params []byte) {
	id, ok := rawjson.Member(params, "requestId")
	if !ok {
		return
	}
	r.mu.Lock()
	request := r.byID[wire.IDKey(id)]
	r.mu.Unlock()
	if request == nil {
		return
	}
	if reason := spec.Member(params, "reason"); reason != "" {
		request.Cancel(spec.CancelReason(reason))
		return
	}
	request.Cancel(spec.ErrCancelled)
}

// CancelAll cancels all requests, of a client that is gone.
func (r *openRequests) CancelAll(reason error) {
	for _, request := range r.all() {
		request.Cancel(reason)
	}
}

// CancelCalls cancels all calls. Those that begin meanwhile may be left out.
func (r *openRequests) CancelCalls(reason error) {
	for _, request := range r.all() {
		if _, other := request.(CancelFunc); !other {
			request.Cancel(reason)
		}
	}
}

func (r *openRequests) all() []canceller {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Values(r.byID))
}
