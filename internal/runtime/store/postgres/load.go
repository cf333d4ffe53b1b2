package postgres

import (
	"context"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// Load implements [backend.Backend]. It never returns data that was read before Load was called.
func (d *DB) Load(ctx context.Context, ids ...backend.PartID) ([]backend.Part, error) {
	one := &loadCall{ids: ids, ended: make(chan struct{})}
	if d.loads.add(one) {
		go d.loadAll(context.WithoutCancel(ctx)) // the load continues even if this caller gives up, because other callers may be waiting for it
	}
	select {
	case <-one.ended:
		return one.parts, one.err
	case <-ctx.Done():
		return nil, d.wrap("reading", ctx.Err())
	}
}

// loadAll answers the waiting calls until the queue is empty.
func (d *DB) loadAll(ctx context.Context) {
	for some, ids := d.loads.next(); len(some) > 0; some, ids = d.loads.next() {
		var parts []backend.Part
		err := d.readCurrent(ctx, len(ids), func(ctx context.Context) (mark string, err error) {
			if parts, mark, err = d.load(ctx, ids); err == nil {
				d.fresh.add(mark, ids...)
			}
			return mark, err
		})
		for _, one := range some {
			if one.err = err; err == nil {
				one.parts, parts = parts[:len(one.ids):len(one.ids)], parts[len(one.ids):]
			}
			close(one.ended)
		}
	}
}
