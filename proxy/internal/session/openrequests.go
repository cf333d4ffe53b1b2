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

// openRequests contains the unanswered requests of one client. The zero value is ready to use. mu
// guards the fields.
type openRequests struct {
	mu    sync.Mutex
	first openRequest          // first open request, because most clients have only one at a time; its request field is nil if no request is open
	more  map[string]canceller // further open requests, keyed by ID exactly as sent
	open  int                  // number of requests whose answers have not been written
	past  []uint64             // hashes of the IDs of requests that have ended recently
	idle  chan struct{}        // closed when open becomes 0; nil: no caller is waiting
}

// An openRequest is a request, along with its ID exactly as sent.
type openRequest struct {
	id      string
	request canceller
}

// A canceller is a client's unanswered request.
type canceller interface {
	Cancel(reason error)
}

// A CancelFunc cancels a request that is not a call.
type CancelFunc context.CancelCauseFunc

func (f CancelFunc) Cancel(reason error) { f(reason) }

// Begin adds a request with the given ID. It returns false if a request with that ID is in flight.
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

// find returns the request with the given ID, or nil. The caller must hold mu.
func (r *openRequests) find(id string) canceller {
	if r.first.request != nil && r.first.id == id {
		return r.first.request
	}
	return r.more[id]
}

// End removes a request, so that the client can reuse its ID.
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

// Limits for the number and length of the IDs that are remembered after their requests have ended.
const (
	maxPast      = 64
	maxPastBytes = 40
)

// Knows reports whether the request named in a notifications/cancelled message is in flight here,
// or was recently.
func (r *openRequests) Knows(params []byte) bool {
	id, ok := rawjson.Member(params, "requestId")
	if !ok {
		return true // the message names no request
	}
	key := wire.IDKey(id)
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.find(key) != nil || len(key) > maxPastBytes || slices.Contains(r.past, maphash.String(pastSeed, key))
}

// Answered records that the answer to a request has been written, or that there will be no answer.
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

// Drained returns a channel that is closed when all requests have been answered.
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

// Cancelled cancels the request named in a notifications/cancelled message. The ID must also have
// the same JSON type: the string "7" does not cancel the request with the number 7.
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

// CancelCalls cancels all calls. It may miss calls that begin while it is running.
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
