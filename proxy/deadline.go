package proxy

import (
	"fmt"
	"sync"
	"time"
)

// maxSweep is how late a timeout may be found at the most.
const maxSweep = time.Second

// An inflight is a request that was sent to a server and has no answer.
type inflight interface {
	queued() *queuePlace
	holding() bool        // it waits for its client: its time does not run
	abandon(reason error) // stop waiting for the answer
}

// A queuePlace is the place of a request in the queue of its server.
type queuePlace struct {
	sentAt     time.Time
	prev, next inflight // guarded by the queue, as is in
	in         bool
}

func (p *queuePlace) queued() *queuePlace { return p }

// A queue holds the requests in flight to one server in the order in which they
// were sent, which is that of their deadlines, since they all may take the
// same time. One sweeper looks at its head: a timer for each call would cost
// more than the call.
type queue struct {
	mu         sync.Mutex
	head, tail inflight
}

// push adds f as the last one.
func (q *queue) push(f inflight) {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := f.queued()
	at.prev, at.in = q.tail, true
	if q.tail == nil {
		q.head = f
	} else {
		q.tail.queued().next = f
	}
	q.tail = f
}

// remove takes f out, if it is in.
func (q *queue) remove(f inflight) {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := f.queued()
	if !at.in {
		return
	}
	if at.prev == nil {
		q.head = at.next
	} else {
		at.prev.queued().next = at.next
	}
	if at.next == nil {
		q.tail = at.prev
	} else {
		at.next.queued().prev = at.prev
	}
	at.prev, at.next, at.in = nil, nil, false
}

// overdue is the first request, if it was sent before t; nil: it was not.
func (q *queue) overdue(t time.Time) inflight {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.head == nil || !q.head.queued().sentAt.Before(t) {
		return nil
	}
	return q.head
}

// all is the requests in the queue.
func (q *queue) all() []inflight {
	q.mu.Lock()
	defer q.mu.Unlock()
	var list []inflight
	for f := q.head; f != nil; f = f.queued().next {
		list = append(list, f)
	}
	return list
}

// postpone begins the time of a request anew.
func (q *queue) postpone(f inflight) {
	q.remove(f)
	f.queued().sentAt = time.Now()
	q.push(f)
}

// sweep abandons the calls to u that take too long, while the proxy lives.
func (p *Proxy) sweep(u *upstreamState) {
	timeout := u.config.Timeout
	tick := time.NewTicker(min(maxSweep, timeout/8+1))
	defer tick.Stop()
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-u.closed:
			return
		case now := <-tick.C:
			if u.trunk != nil && p.rest(u, p.now()) {
				return
			}
			for f := u.flights.overdue(now.Add(-timeout)); f != nil; f = u.flights.overdue(now.Add(-timeout)) {
				if f.holding() {
					u.flights.postpone(f)
					continue
				}
				u.flights.remove(f)
				f.abandon(fmt.Errorf("no answer within %s", timeout))
			}
		}
	}
}
