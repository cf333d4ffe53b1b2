package pool

import (
	"fmt"
	"sync"
	"time"
)

// maxSweep bounds how late a timeout is noticed.
const maxSweep = time.Second

// An inflight is a request that was sent to a server and has no answer.
type inflight interface {
	Queued() *QueuePlace
	Holding() bool        // whether it waits for its client: its time does not run
	Abandon(reason error) // stops waiting for the answer
}

// A QueuePlace is the place of a request in the queue of its server.
type QueuePlace struct {
	SentAt     time.Time
	prev, next inflight // guarded by the queue's lock, as is in
	in         bool
}

// Queued returns p, so that a type that embeds a QueuePlace has its method.
func (p *QueuePlace) Queued() *QueuePlace { return p }

// A queue holds the requests in flight to one server in the order in which they were
// sent. Their deadlines have the same order, since all have the same timeout. One
// sweeper looks at the head: a timer for each call would cost more than the call.
type queue struct {
	mu         sync.Mutex
	head, tail inflight
}

// Push adds f at the end.
func (q *queue) Push(f inflight) {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := f.Queued()
	at.prev, at.in = q.tail, true
	if q.tail == nil {
		q.head = f
	} else {
		q.tail.Queued().next = f
	}
	q.tail = f
}

// Remove removes f, if the queue has it.
func (q *queue) Remove(f inflight) {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := f.Queued()
	if !at.in {
		return
	}
	if at.prev == nil {
		q.head = at.next
	} else {
		at.prev.Queued().next = at.next
	}
	if at.next == nil {
		q.tail = at.prev
	} else {
		at.next.Queued().prev = at.prev
	}
	at.prev, at.next, at.in = nil, nil, false
}

// overdue returns the first request if it was sent before t, or else nil.
func (q *queue) overdue(t time.Time) inflight {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.head == nil || !q.head.Queued().SentAt.Before(t) {
		return nil
	}
	return q.head
}

// All lists the requests in the queue.
func (q *queue) All() []inflight {
	q.mu.Lock()
	defer q.mu.Unlock()
	var list []inflight
	for f := q.head; f != nil; f = f.Queued().next {
		list = append(list, f)
	}
	return list
}

// postpone restarts the timeout of a request.
func (q *queue) postpone(f inflight) {
	q.Remove(f)
	f.Queued().SentAt = time.Now()
	q.Push(f)
}

// Sweep abandons the calls to u that take too long, and ends a dedicated connection that
// is no longer used. It returns when the proxy or the connection ends.
func (p *Pool) Sweep(u *Server) {
	timeout := u.Config.Timeout
	tick := time.NewTicker(min(maxSweep, timeout/8+1))
	defer tick.Stop()
	for {
		select {
		case <-p.Life.Ctx.Done():
			return
		case <-u.closed:
			return
		case now := <-tick.C:
			if u.Dedicated() && p.endUnused(u, p.Life.Now()) {
				return
			}
			for f := u.InFlight.overdue(now.Add(-timeout)); f != nil; f = u.InFlight.overdue(now.Add(-timeout)) {
				if f.Holding() {
					u.InFlight.postpone(f)
					continue
				}
				u.InFlight.Remove(f)
				f.Abandon(fmt.Errorf("no answer within %s", timeout))
			}
		}
	}
}
