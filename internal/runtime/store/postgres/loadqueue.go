package postgres

import (
	"context"
	"sync"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// loadQueue holds the calls of [DB.Load] that wait while another one is running. They are answered
// together: if clients move between replicas, each call begins with a load, and one round trip for
// many costs hardly more than for one. A call that finds no other one running is sent at once.
type loadQueue struct {
	mu      sync.Mutex
	running bool
	waiting []*loadCall
}

// loadCall is one call of [DB.Load].
type loadCall struct {
	ids   []backend.PartID
	parts []backend.Part
	err   error
	ended chan struct{} // closed when parts or err is set
}

// maxBatchedParts bounds the parts in one round trip, unless a single call needs more.
const maxBatchedParts = 64

// add adds a call. It returns true if the caller must start answering the queue.
func (l *loadQueue) add(one *loadCall) (first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = append(l.waiting, one)
	first = !l.running
	l.running = true
	return first
}

// next removes the next calls from the queue and returns them with the ids of all their parts.
// Without waiting calls it returns nil, and the queue counts as idle.
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

// Load implements [backend.Backend]. The parts are read after the call of Load.
func (d *DB) Load(ctx context.Context, ids ...backend.PartID) ([]backend.Part, error) {
	one := &loadCall{ids: ids, ended: make(chan struct{})}
	if d.loads.add(one) {
		go d.loadAll(context.WithoutCancel(ctx)) // other callers may wait for the same load
	}
	select {
	case <-one.ended:
		return one.parts, one.err
	case <-ctx.Done():
		return nil, d.wrap("reading", ctx.Err())
	}
}

// loadAll answers calls until the queue is empty.
func (d *DB) loadAll(ctx context.Context) {
	for some, ids := d.loads.next(); len(some) > 0; some, ids = d.loads.next() {
		parts, err := d.loadNow(ctx, ids)
		for _, one := range some {
			if one.err = err; err == nil {
				one.parts, parts = parts[:len(one.ids):len(one.ids)], parts[len(one.ids):]
			}
			close(one.ended)
		}
	}
}

func (d *DB) loadNow(ctx context.Context, ids []backend.PartID) (parts []backend.Part, err error) {
	err = d.readCurrent(ctx, len(ids), func(ctx context.Context) (mark string, err error) {
		if parts, mark, err = d.load(ctx, ids); err == nil {
			d.fresh.add(mark, ids...)
		}
		return mark, err
	})
	return parts, err
}
