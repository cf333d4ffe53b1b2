package postgres

import (
	"context"
	"sync"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// loads are calls of [DB.Load] that wait while another one is under way. They are answered
// together: where clients go from one replica to another, each call begins with a load, and
// one round trip for many costs hardly more than for one. A call that finds none under way
// is sent at once.
type loads struct {
	mu      sync.Mutex
	running bool
	waiting []*load
}

// load is one call of [DB.Load].
type load struct {
	ids   []backend.PartID
	parts []backend.Part
	err   error
	ended chan struct{} // closed once parts or err is set
}

// together bounds the parts that are loaded in one round trip, but for those of a single call.
const together = 64

// add adds a call, and reports whether the caller has to see to the calls that wait.
func (l *loads) add(one *load) (first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = append(l.waiting, one)
	first = !l.running
	l.running = true
	return first
}

// next returns the calls that are answered next, with all that they ask for; nil: none waits.
func (l *loads) next() (some []*load, ids []backend.PartID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for ; n < len(l.waiting) && (n == 0 || len(ids)+len(l.waiting[n].ids) <= together); n++ {
		ids = append(ids, l.waiting[n].ids...)
	}
	some, l.waiting = l.waiting[:n:n], l.waiting[n:]
	l.running = n > 0
	return some, ids
}

// Load implements [backend.Backend]. What it returns was read after it was called.
func (d *DB) Load(ctx context.Context, ids ...backend.PartID) ([]backend.Part, error) {
	one := &load{ids: ids, ended: make(chan struct{})}
	if d.loads.add(one) {
		go d.loadAll(context.WithoutCancel(ctx)) // others may wait for what this caller asks for
	}
	select {
	case <-one.ended:
		return one.parts, one.err
	case <-ctx.Done():
		return nil, d.failed("reading", ctx.Err())
	}
}

// loadAll answers calls until none waits.
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
	err = d.current(ctx, len(ids), func(ctx context.Context) (mark string, err error) {
		if parts, mark, err = d.load(ctx, ids); err == nil {
			d.fresh.add(mark, ids...)
		}
		return mark, err
	})
	return parts, err
}
