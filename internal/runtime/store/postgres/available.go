package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// probeWait is the maximum time that an operation waits for a probe (a test write) to end. If the
// probe has already begun, the time is counted from its beginning. probeInterval is the pause
// between two probes.
const (
	probeWait     = 500 * time.Millisecond
	probeInterval = 50 * time.Millisecond
)

// checkAvailable returns nil if the database is available. Otherwise it requests a probe (a test
// write) and waits briefly until the probe ends. It then returns nil if the probe has succeeded,
// and otherwise the last known error. It does not wait if the last operation timed out, because the
// probe would probably time out too.
func (d *DB) checkAvailable(ctx context.Context) error {
	if d.health.get() == nil {
		return nil
	}
	ended, began := d.health.requestProbe()
	if d.health.lastTimedOut() {
		return d.health.get()
	}
	wait := probeWait
	if !began.IsZero() {
		wait -= time.Since(began)
	}
	select {
	case <-ended:
	case <-time.After(wait):
	case <-ctx.Done():
	}
	return d.health.get()
}

// read runs f within the timeout, and runs it again if a connection breaks. It fails without
// running f if the database is unavailable; see [DB.checkAvailable].
func (d *DB) read(ctx context.Context, doing string, f func(context.Context) error) error {
	if err := d.checkAvailable(ctx); err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	for n := 1; ; n++ {
		var err error
		if d.writer.mustResume.Load() {
			err = d.writer.probe(within) // the outcome of the last commit is unknown, so first find out whether it took effect
		}
		if err == nil {
			err = f(within)
		}
		if err == nil {
			return nil
		}
		if connectionLost(err) || within.Err() != nil {
			d.health.requestProbe() // a probe shows whether the whole database is unavailable or only this connection
		}
		if !connectionLost(err) || backoff(within, n) != nil {
			err = d.wrap(doing, err)
			if within.Err() != nil && ctx.Err() == nil {
				d.health.suspect(err)
			}
			return err
		}
	}
}

// probeLoop probes the database on request until ctx is done.
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
		_ = sleep(ctx, probeInterval)
	}
}

// probe writes to the database and records whether that succeeded. A broken connection alone does
// not mean that the database is unavailable. Only one goroutine calls probe, so that an old failure
// cannot overwrite the result of a newer probe.
func (d *DB) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	var err error
	for n := 1; n <= maxAttempts; n++ {
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
