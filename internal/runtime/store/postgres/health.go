package postgres

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// health is the state of the database: why nothing can be committed, if so. While the database is
// unavailable one goroutine probes it, see [DB.probeLoop], and all other operations fail at once.
type health struct {
	requests chan struct{} // full while a probe is requested and has not begun

	mu     sync.Mutex
	err    error
	silent bool          // the last operation timed out
	began  time.Time     // when the running probe began; zero: none is running
	ended  chan struct{} // closed when the next probe has ended
}

func newHealth() *health {
	return &health{requests: make(chan struct{}, 1), ended: make(chan struct{})}
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

// timedOut reports whether err means that the database did not answer in time.
func timedOut(err error) bool {
	return err != nil && (errors.Is(err, context.DeadlineExceeded) || pgconn.Timeout(err))
}

// suspect records err, the failure of a read, and requests a probe. Other operations wait for the
// probe or fail.
func (h *health) suspect(err error) {
	h.mu.Lock()
	if h.err == nil {
		h.err = err
	}
	h.mu.Unlock()
	h.requestProbe()
}

// isSilent reports whether the last operation timed out.
func (h *health) isSilent() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.silent
}

// requestProbe requests a probe unless one is running. It returns a channel that is closed at the
// end of the next probe, and the time when that probe began; zero: not yet.
func (h *health) requestProbe() (ended <-chan struct{}, began time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.began.IsZero() {
		select {
		case h.requests <- struct{}{}:
		default:
		}
	}
	return h.ended, h.began
}

func (h *health) beginProbe() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.began = time.Now()
}

func (h *health) endProbe() {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.ended)
	h.ended, h.began = make(chan struct{}), time.Time{}
}

// probeWait is how long a caller waits for a probe to find the database available. probeInterval is
// the pause between two probes.
const (
	probeWait     = 500 * time.Millisecond
	probeInterval = 50 * time.Millisecond
)

// available returns why the database cannot be used; nil: it can be tried. It waits only for a
// probe that is about to begin or has just begun, since the database may be available again. If the
// database timed out, as behind a network that drops all packets, it does not wait.
func (d *DB) available(ctx context.Context) error {
	if d.health.get() == nil {
		return nil
	}
	ended, began := d.health.requestProbe()
	if d.health.isSilent() {
		return d.health.get()
	}
	wait := probeWait
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

// probeLoop probes the database on request until ctx ends.
func (d *DB) probeLoop(ctx context.Context) {
	for {
		select {
		case <-d.health.requests:
		case <-ctx.Done():
			return
		}
		d.health.beginProbe()
		_ = d.probe(ctx)
		d.health.endProbe()
		sleep(ctx, probeInterval)
	}
}

// waitForProbe requests a probe and waits for its end, or for the end of ctx.
func (d *DB) waitForProbe(ctx context.Context) {
	ended, _ := d.health.requestProbe()
	select {
	case <-ended:
	case <-ctx.Done():
	}
}

// probe writes to the database and records the result. A broken connection alone does not make the
// database unavailable. Only one goroutine calls probe, so a probe that began while the database
// was unavailable cannot end after one that has succeeded.
func (d *DB) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	var err error
	for n := 1; n <= attempts; n++ {
		if err = d.writer.probe(ctx); err == nil || !connectionLost(err) {
			break
		}
		if n >= 3 && errors.As(err, new(*pgconn.ConnectError)) || backoff(ctx, n) != nil {
			break
		}
		d.pool.Reset()
	}
	if err != nil {
		d.pool.Reset()
		err = d.wrap("trying", err)
	}
	d.health.set(err)
	return err
}
