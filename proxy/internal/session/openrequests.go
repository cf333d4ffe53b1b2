package session

import (
	"context"
	"hash/maphash"
	"maps"
	"slices"
	"sync"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// openRequests holds the unanswered requests of one client. The zero value is empty. mu guards the
// fields.
type openRequests struct {
	mu    sync.Mutex
	first openRequest          // most clients have one at a time; its request is nil if none is open
	more  map[string]canceller // further requests by id on the wire
	open  int                  // number of requests whose answer is not written yet
	past  []uint64             // hashes of the ids of recently ended requests
	idle  chan struct{}        // closed when open becomes 0; nil: no caller waits
}

// An openRequest is a request with its id on the wire.
type openRequest struct {
	id      string
	request canceller
}

// A canceller is an unanswered request of a client.
type canceller interface {
	Cancel(reason error)
}

// A CancelFunc cancels a request that is not a call.
type CancelFunc context.CancelCauseFunc

func (f CancelFunc) Cancel(reason error) { f(reason) }

// Begin adds a request under its id. It reports false if a request with that id is in flight.
func (r *openRequests) Begin(id string, request canceller) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.find(id) != nil {
		return false
	}
	if r.first.request == nil {
		r.first = openRequest{id, request}
	} else {
		if r.more == nil {
			r.more = map[string]canceller{}
		}
		r.more[id] = request
	}
	r.open++
	return true
}

// find returns the request with an id, or nil. The caller must hold mu.
func (r *openRequests) find(id string) canceller {
	if r.first.request != nil && r.first.id == id {
		return r.first.request
	}
	return r.more[id]
}

// End removes a request. The client can then use its id again.
func (r *openRequests) End(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.first.id == id {
		r.first = openRequest{}
	} else {
		delete(r.more, id)
	}
	if len(id) > maxPastBytes {
		return
	}
	if len(r.past) >= maxPast {
		r.past = slices.Delete(r.past, 0, 1)
	}
	r.past = append(r.past, maphash.String(pastSeed, id))
}

var pastSeed = maphash.MakeSeed()

// Limits on the remembered ids of ended requests: their number, and their length.
const (
	maxPast      = 64
	maxPastBytes = 40
)

// Knows reports whether the request that a notifications/cancelled names is in flight here or was
// recently.
func (r *openRequests) Knows(params []byte) bool {
	id, ok := rawjson.Member(params, "requestId")
	if !ok {
		return true // it names no request
	}
	key := wire.IDKey(id)
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.find(key) != nil || len(key) > maxPastBytes || slices.Contains(r.past, maphash.String(pastSeed, key))
}

// Answered records that the answer to a request is written, or that the request gets none.
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

// Drained returns a channel that is closed when every request is answered.
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
	return r.first.request != nil || len(r.more) > 0
}

// Cancelled cancels the request that a notifications/cancelled names. The id must have the same
// JSON type too: the string "7" does not cancel the number 7.
func (r *openRequests) Cancelled(params []byte) {
	id, ok := rawjson.Member(params, "requestId")
	if !ok {
		return
	}
	r.mu.Lock()
	request := r.find(wire.IDKey(id))
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

// CancelAll cancels all requests of a client that has disconnected.
func (r *openRequests) CancelAll(reason error) {
	for _, request := range r.all() {
		request.Cancel(reason)
	}
}

// CancelCalls cancels all calls. It can miss calls that begin meanwhile.
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
	all := slices.Collect(maps.Values(r.more))
	if r.first.request != nil {
		all = append(all, r.first.request)
	}
	return all
}
