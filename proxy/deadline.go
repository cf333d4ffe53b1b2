package proxy

import (
	"fmt"
	"sync"
	"time"
)

// maxSweep is how late a timeout may be found at the most.
const maxSweep = time.Second

// A queue holds the calls in flight to one upstream in the order in which they
// were sent, which is that of their deadlines, since they all may take the
// same time. One sweeper looks at its head: a timer for each call would cost
// more than the call.
type queue struct {
	mu   sync.Mutex
	head *flight
	tail *flight
}

// push adds f as the last one.
func (q *queue) push(f *flight) {
	q.mu.Lock()
	defer q.mu.Unlock()
	f.prev, f.queued = q.tail, true
	if q.tail == nil {
		q.head = f
	} else {
		q.tail.next = f
	}
	q.tail = f
}

// remove takes f out, if it is in.
func (q *queue) remove(f *flight) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !f.queued {
		return
	}
	if f.prev == nil {
		q.head = f.next
	} else {
		f.prev.next = f.next
	}
	if f.next == nil {
		q.tail = f.prev
	} else {
		f.next.prev = f.prev
	}
	f.prev, f.next, f.queued = nil, nil, false
}

// overdue is the first call, if it was sent before t.
func (q *queue) overdue(t time.Time) *flight {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.head == nil || !q.head.sentAt.Before(t) {
		return nil
	}
	return q.head
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
			if u.trunk != nil && p.rest(u, p.options.Now()) {
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
