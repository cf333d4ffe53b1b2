package pool

import (
	"slices"
	"sync"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/session"
)

// An inflight is a request that was sent to a server and is not answered yet.
type inflight interface {
	Queued() *QueuePlace
	Holding() bool        // reports whether the request waits for its client, which stops its clock
	Abandon(reason error) // stops waiting for the answer
}

// A QueuePlace is the position of a request in the queue of requests in flight to its server.
type QueuePlace struct {
	SentAt time.Time
	number int // position from 1, guarded by the queue's lock; 0: not queued
}

// Queued returns p. It gives the method to types that embed a QueuePlace.
func (p *QueuePlace) Queued() *QueuePlace { return p }

// A queue holds the requests in flight to one server. One goroutine checks all of them for
// timeouts, because a timer for each call would cost more than the call. mu guards all and the
// positions of its requests.
type queue struct {
	mu  sync.Mutex
	all []inflight // unordered; the request at index i has position i+1
}

// Push adds f.
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

// Remove removes f. It does nothing if f is not in the queue.
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

// All returns the requests in the queue, ordered by the time they were sent.
func (q *queue) All() []inflight {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.SortedFunc(slices.Values(q.all), func(a, b inflight) int { return a.Queued().SentAt.Compare(b.Queued().SentAt) })
}

// restartTimeout restarts the timeout of a request.
func (q *queue) restartTimeout(f inflight) {
	q.mu.Lock()
	defer q.mu.Unlock()
	f.Queued().SentAt = time.Now()
}

// abandonedCalls counts, by session, the calls that the proxy no longer waits for and that the
// server has not answered: a request from the server might belong to one of them.
type abandonedCalls struct {
	mu sync.Mutex
	of map[*session.Session]int // without zero entries
}

// Add adds n to the count of a session.
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

// ByOthers reports whether the server might still be busy with a call of a session other than s.
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
