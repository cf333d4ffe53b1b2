package postgres

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// health is what is known of the database: why nothing can be committed, if so. While it is
// away one goroutine tries it, see [DB.tries], and everything else fails at once.
type health struct {
	wanted chan struct{} // full while a trial is wanted that has not begun

	mu     sync.Mutex
	err    error
	silent bool          // it did not answer in time
	began  time.Time     // of the trial that runs; zero: none does
	ended  chan struct{} // closed when the next trial has ended
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
	h.err, h.silent = err, timedOut(err)
}

// timedOut reports whether err is of a database that did not answer in time.
func timedOut(err error) bool {
	return err != nil && (errors.Is(err, context.DeadlineExceeded) || pgconn.Timeout(err))
}

// suspect has the database tried, and everything else wait for that or fail, because of what a read
// has met.
func (h *health) suspect(err error) {
	h.mu.Lock()
	if h.err == nil {
		h.err = err
	}
	h.mu.Unlock()
	h.want()
}

// isSilent reports whether the database did not answer in time when it was tried last.
func (h *health) isSilent() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.silent
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
// tried. It waits only for a trial that has just begun: the database may be back. Where the
// database did not answer in time, as behind a network that drops all packets, it does not wait.
func (d *DB) available(ctx context.Context) error {
	if d.health.get() == nil {
		return nil
	}
	ended, began := d.health.want()
	if d.health.isSilent() {
		return d.health.get()
	}
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

// trial has the database tried and waits for the end of that, or of ctx.
func (d *DB) trial(ctx context.Context) {
	ended, _ := d.health.want()
	select {
	case <-ended:
	case <-ctx.Done():
	}
}

// try writes to the database, and remembers what came of it. It does not take a connection
// that was broken for a database that is away. It is called by one goroutine: a trial that
// began while the database was away does not end after one that has found it.
func (d *DB) try(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	var err error
	for n := 1; n <= attempts; n++ {
		if err = d.writer.probe(ctx); err == nil || !lost(err) {
			break
		}
		if n >= 3 && errors.As(err, new(*pgconn.ConnectError)) || pause(ctx, n) != nil {
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
