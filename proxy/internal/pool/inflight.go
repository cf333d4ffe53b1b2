package pool

import (
	"slices"
	"sync"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/session"
)

// An inflight is a request that was sent to a server but has not been answered.
type inflight interface {
	Queued() *QueuePlace
	Holding() bool        // reports whether the request waits for its client, which stops the timeout
	Abandon(reason error) // stops waiting for the answer
}

// A QueuePlace is a request's position in the queue of requests in flight to a server.
type QueuePlace struct {
	SentAt time.Time
	number int // position, starting at 1, or 0 if not queued; guarded by the queue's lock
}

// Queued returns p itself, so that types that embed a QueuePlace have the method.
func (p *QueuePlace) Queued() *QueuePlace { return p }

// A queue contains the requests in flight to one server. A single goroutine checks all of them for
// timeouts, because a timer for each call would cost more than the call itself. mu guards all and
// the positions of the requests.
type queue struct {
	mu  sync.Mutex
	all []inflight // in no particular order; the request at index i has position i+1
}

// Push adds f to the queue.
func (q *queue) Push(f inflight) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.all = append(q.all, f)
	f.Queued().number = len(q.all)
}

// Len returns the number of requests in the queue.
func (q *queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.all)
}

// Remove removes f from the queue. If f is not in the queue, it does nothing.
func (q *queue) Remove(f inflight) {
	q.mu.Lock()
	defer q.mu.Unlock()
	place, last := f.Queued().number, len(q.all)
	if place == 0 {
		return
	}
	q.all[place-1] = q.all[last-1]
	q.all[place-1].Queued().number = place
	q.all[last-1] = nil
	q.all = q.all[:last-1]
	f.Queued().number = 0
}

// All returns the requests in the queue in the order in which they were sent.
func (q *queue) All() []inflight {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.SortedFunc(slices.Values(q.all), func(a, b inflight) int { return a.Queued().SentAt.Compare(b.Queued().SentAt) })
}

// restartTimeout restarts the timeout of the request.
func (q *queue) restartTimeout(f inflight) {
	q.mu.Lock()
	defer q.mu.Unlock()
	f.Queued().SentAt = time.Now()
}

// An abandonedCalls counts, for each session, the calls that the proxy no longer waits for although
// the server has not answered them. A request from the server may belong to one of them.
type abandonedCalls struct {
	mu sync.Mutex
	of map[*session.Session]int // contains no zeros
}

// Add adds n to the session's count.
func (a *abandonedCalls) Add(s *session.Session, n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of == nil {
		a.of = map[*session.Session]int{}
	}
	if a.of[s] += n; a.of[s] == 0 {
		delete(a.of, s)
	}
}

// ByOthers reports whether the server may still be busy with a call from a session other than s.
func (a *abandonedCalls) ByOthers(s *session.Session) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for other := range a.of {
		if other != s {
			return true
		}
	}
	return false
}
