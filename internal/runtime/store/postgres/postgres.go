// Package postgres stores the states of sessions, records, approvals, stops and pinned tool
// definitions in PostgreSQL 13 or later, which many processes share. It implements
// [backend.Backend] and [backend.Pins].
//
// A commit is one round trip, see [DB.Commit]: the function petrigate_commit compares versions and
// writes everything in one transaction. Each process is a writer with its own chain of records. The
// row of the writer has the number of its commits and a fencing token, so a commit that was sent
// twice, or arrives after the process has given it up, is refused. If a connection breaks during a
// commit, petrigate_resume returns whether the commit took effect.
//
// Main types: [DB] is the backend, writer commits, batch encodes ops, health tracks whether the
// database is available, freshParts tracks which parts can be trusted after a crash of the server,
// and loadQueue joins concurrent loads.
//
// Concurrency: one goroutine at a time has the writer. The mutexes of health, freshParts and
// loadQueue are held only for a moment and never together. Two goroutines run until Close: one
// listens for changes of other processes, the other one probes the database while it is
// unavailable. While the loadQueue has calls, another goroutine answers them.
package postgres

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// Options configures a [DB]. DSN is required.
type Options struct {
	DSN     string        // URL or keywords; missing settings come from PGHOST, PGPASSWORD and so on
	NoSync  bool          // even commits with reservations do not wait for the disk
	Timeout time.Duration // limit for each commit and for each read of a page; 0: five seconds
	Poll    time.Duration // interval for polling changes of other processes; 0: one second
}

// DB is an open database. It is safe for concurrent use.
type DB struct {
	name    string // description of the database for messages, without secrets
	timeout time.Duration
	pool    *pgxpool.Pool
	writer  *writer
	fresh   *freshParts
	loads   loadQueue
	health  *health
	space   freeSpace
	changes chan struct{}

	stop    context.CancelFunc
	stopped chan struct{}
}

var _ backend.Backend = (*DB)(nil)

// Open connects to the database, migrates its schema, and registers this process as the writer of a
// new chain of records.
func Open(ctx context.Context, o Options) (*DB, error) {
	o.Timeout = cmp.Or(o.Timeout, 5*time.Second)
	config, err := parse(o)
	if err != nil {
		return nil, err
	}
	d := &DB{
		name: describe(config.ConnConfig), timeout: o.Timeout, fresh: &freshParts{}, health: newHealth(),
		changes: make(chan struct{}, 1), stopped: make(chan struct{}),
	}
	if d.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, d.wrap("opening", err)
	}
	if err := d.setUp(ctx, o); err != nil {
		d.pool.Close()
		return nil, d.wrap("opening", err)
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	d.stop = stop
	go func() {
		defer close(d.stopped)
		var wait sync.WaitGroup
		wait.Go(func() { d.probeLoop(background) })
		d.listen(background, config.ConnConfig.Copy(), cmp.Or(o.Poll, time.Second))
		wait.Wait()
	}()
	return d, nil
}

// setUp migrates the schema and registers this process as a writer.
func (d *DB) setUp(ctx context.Context, o Options) error {
	ctx, cancel := context.WithTimeout(ctx, 6*o.Timeout) // another process may be migrating
	defer cancel()
	err := pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error { return migrate(ctx, tx) })
	for n := 1; n < attempts && concurrentMigration(err); n++ {
		err = pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error { return migrate(ctx, tx) })
	}
	if err != nil {
		return err
	}
	if _, err := d.pool.Exec(ctx, idleSQL); err != nil {
		return err
	}
	w := &writer{pool: d.pool, name: strings.ToLower(rand.Text()), flush: !o.NoSync, fresh: d.fresh, sem: make(chan struct{}, 1)}
	if err := d.pool.QueryRow(ctx, `INSERT INTO petrigate_writer (name) VALUES ($1) RETURNING no`, w.name).Scan(&w.no); err != nil {
		return err
	}
	d.writer = w
	return w.probe(ctx)
}

// Merges implements [backend.Backend]. It returns false: a row contains the whole part.
func (d *DB) Merges() bool { return false }

// Writer implements [backend.Backend].
func (d *DB) Writer() string { return d.writer.name }

// Changes implements [backend.Backend].
func (d *DB) Changes() <-chan struct{} { return d.changes }

// Ready implements [backend.Backend]. After a failure it requests a probe of the database; it does
// not wait for a database that timed out.
func (d *DB) Ready(ctx context.Context) error {
	if d.writer.closed.Load() {
		return d.wrap("trying", errClosed)
	}
	if err := d.available(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	if err := d.space.ready(ctx, d.writer); err != nil {
		return d.wrap("trying", err)
	}
	return nil
}

// Close implements [backend.Backend].
func (d *DB) Close() error {
	if d.health.get() == nil {
		d.writer.removeIfUnused(d.timeout)
	}
	d.writer.closed.Store(true)
	d.stop()
	<-d.stopped
	ended := make(chan struct{})
	go func() { d.pool.Close(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(d.timeout): // a network that drops all packets would delay it longer
	}
	return nil
}

// wrap adds to err the operation, the database and advice, for an operator.
func (d *DB) wrap(doing string, err error) error {
	return fmt.Errorf("%s %s: %w", doing, d.name, explain(err))
}

// read runs f within the timeout, and repeats it if a connection breaks. It fails at once if the
// database is known to be unavailable.
func (d *DB) read(ctx context.Context, doing string, f func(context.Context) error) error {
	if err := d.available(ctx); err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	for n := 1; ; n++ {
		err := d.writer.ensureResumed(within)
		if err == nil {
			err = f(within)
		}
		if err == nil {
			return nil
		}
		if connectionLost(err) || within.Err() != nil {
			d.health.requestProbe() // the database may be unavailable, or only one connection broke, or there was much to read
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

// connectionLost reports whether err concerns one connection, so that another one may succeed.
func connectionLost(err error) bool {
	var p *pgconn.PgError
	switch {
	case errors.Is(err, backend.ErrStale), errors.Is(err, backend.ErrRolledBack), errors.Is(err, errClosed), errors.Is(err, pgx.ErrNoRows):
		return false
	case errors.As(err, &p):
		return p.SeverityUnlocalized == "FATAL" || p.Severity == "FATAL"
	}
	return pgconn.SafeToRetry(err) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.As(err, new(net.Error))
}
