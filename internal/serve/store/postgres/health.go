package postgres

import (
	"context"
	"sync"
	"time"
)

// health is what is known of the database: why nothing can be committed, if so. While it is
// away one goroutine tries it, see [DB.tries], and everything else fails at once.
type health struct {
	wanted chan struct{} // full while a trial is wanted that has not begun

	mu    sync.Mutex
	err   error
	began time.Time     // of the trial that runs; zero: none does
	ended chan struct{} // closed when the next trial has ended
}

func newHealth() *health {
	return &health{wanted: make(chan struct{}, 1), ended: make(chan struct{})}
}

func (h *health) get() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err
}

func (h *health) set(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.err = err
}

// want wants a trial. It returns how the end of it is heard of, and when it began; zero: it
// has not yet.
func (h *health) want() (ended <-chan struct{}, began time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.began.IsZero() {
		select {
		case h.wanted <- struct{}{}:
		default:
		}
	}
	return h.ended, h.began
}

func (h *health) begin() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.began = time.Now()
}

func (h *health) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.ended)
	h.ended, h.began = make(chan struct{}), time.Time{}
}

// A caller waits so long for a trial to find that the database is back, and a trial begins
// so long after the one before.
const (
	grace = 500 * time.Millisecond
	rest  = 50 * time.Millisecond
)

// available returns at once why nothing can be done with the database; nil: it can be
// tried. It waits only for a trial that has just begun: the database may be back.
func (d *DB) available(ctx context.Context) error {
	if d.health.get() == nil {
		return nil
	}
	ended, began := d.health.want()
	wait := grace
	if !began.IsZero() {
		wait -= time.Since(began)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
	case <-ctx.Done():
	}
	return d.health.get()
}

// tries tries the database when that is wanted, until ctx is over.
func (d *DB) tries(ctx context.Context) {
	for {
		select {
		case <-d.health.wanted:
		case <-ctx.Done():
			return
		}
		d.health.begin()
		_ = d.try(ctx)
		d.health.end()
		sleep(ctx, rest)
	}
}

// try writes to the database, and remembers what came of it. It does not take a connection
// that was broken for a database that is away.
func (d *DB) try(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	var err error
	for n := 1; n <= 3; n++ {
		if err = d.writer.probe(ctx); err == nil || !lost(err) || pause(ctx, n) != nil {
			break
		}
		d.pool.Reset()
	}
	if err != nil {
		d.pool.Reset()
		err = d.failed("trying", err)
	}
	d.health.set(err)
	return err
}
