// Package postgres stores the states of sessions, records, approvals and stops in
// PostgreSQL 13 or later, which many processes share. It implements backend.Backend.
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

// Options say which database, and how to use it. DSN is needed.
type Options struct {
	DSN     string        // a URL or keywords; what is missing comes from PGHOST, PGPASSWORD and so on
	NoSync  bool          // a commit that reserves does not wait for the disk either
	Timeout time.Duration // of each commit and of each read of a page; 0: five seconds
	Poll    time.Duration // how often changes of other processes are looked for; 0: each second
}

// A DB is a database that is open. It is safe for concurrent use.
type DB struct {
	name    string // of the database, for messages, without secrets
	timeout time.Duration
	pool    *pgxpool.Pool
	writer  *writer
	fresh   *fresh
	loads   loads
	health  *health
	room    room
	changes chan struct{}

	stop    context.CancelFunc
	stopped chan struct{}
}

var _ backend.Backend = (*DB)(nil)

// Open connects to the database, brings its schema up to date, and begins a chain of
// records there.
func Open(ctx context.Context, o Options) (*DB, error) {
	o.Timeout = cmp.Or(o.Timeout, 5*time.Second)
	config, err := parse(o)
	if err != nil {
		return nil, err
	}
	d := &DB{
		name: describe(config.ConnConfig), timeout: o.Timeout, fresh: &fresh{}, health: newHealth(),
		changes: make(chan struct{}, 1), stopped: make(chan struct{}),
	}
	if d.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, d.failed("opening", err)
	}
	if err := d.begin(ctx, o); err != nil {
		d.pool.Close()
		return nil, d.failed("opening", err)
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	d.stop = stop
	go func() {
		defer close(d.stopped)
		var wait sync.WaitGroup
		wait.Go(func() { d.tries(background) })
		d.listen(background, config.ConnConfig.Copy(), cmp.Or(o.Poll, time.Second))
		wait.Wait()
	}()
	return d, nil
}

// begin brings the schema up to date and registers this process as a writer.
func (d *DB) begin(ctx context.Context, o Options) error {
	ctx, cancel := context.WithTimeout(ctx, 6*o.Timeout) // another process may be migrating
	defer cancel()
	err := pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error { return migrate(ctx, tx) })
	for n := 1; n < attempts && tooSoon(err); n++ {
		err = pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error { return migrate(ctx, tx) })
	}
	if err != nil {
		return err
	}
	if _, err := d.pool.Exec(ctx, idleSQL); err != nil {
		return err
	}
	w := &writer{pool: d.pool, name: strings.ToLower(rand.Text()), flush: !o.NoSync, fresh: d.fresh, turn: make(chan struct{}, 1)}
	if err := d.pool.QueryRow(ctx, `INSERT INTO petrigate_writer (name) VALUES ($1) RETURNING no`, w.name).Scan(&w.no); err != nil {
		return err
	}
	d.writer = w
	return w.probe(ctx)
}

// Merges reports false: a row has the whole of a part.
func (d *DB) Merges() bool { return false }

// Writer implements [backend.Backend].
func (d *DB) Writer() string { return d.writer.name }

// Changes implements [backend.Backend].
func (d *DB) Changes() <-chan struct{} { return d.changes }

// Ready implements [backend.Backend]. It has the database tried again where it has failed,
// and does not wait for one that does not answer.
func (d *DB) Ready(ctx context.Context) error {
	if d.writer.closed.Load() {
		return d.failed("trying", errClosed)
	}
	if err := d.available(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	if err := d.room.ready(ctx, d.writer); err != nil {
		return d.failed("trying", err)
	}
	return nil
}

// Close implements [backend.Backend].
func (d *DB) Close() error {
	if d.health.get() == nil {
		d.writer.resign(d.timeout)
	}
	d.writer.closed.Store(true)
	d.stop()
	<-d.stopped
	ended := make(chan struct{})
	go func() { d.pool.Close(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(d.timeout): // a network that swallows all would hold it longer
	}
	return nil
}

// failed is an error as a person reads it: what was being done, and where.
func (d *DB) failed(doing string, err error) error {
	return fmt.Errorf("%s %s: %w", doing, d.name, explain(err))
}

// read runs f, which may be repeated, in bounded time: it is run again where a connection
// broke. A database that is known to be away is not waited for.
func (d *DB) read(ctx context.Context, doing string, f func(context.Context) error) error {
	if err := d.available(ctx); err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	for n := 1; ; n++ {
		err := d.writer.settled(within)
		if err == nil {
			err = f(within)
		}
		if err == nil {
			return nil
		}
		if lost(err) || within.Err() != nil {
			d.health.want() // is it away, or was that one connection, or only much to read?
		}
		if !lost(err) || pause(within, n) != nil {
			err = d.failed(doing, err)
			if within.Err() != nil && ctx.Err() == nil {
				d.health.suspect(err)
			}
			return err
		}
	}
}

// lost reports whether err is of a connection, which another one may not have.
func lost(err error) bool {
	var p *pgconn.PgError
	switch {
	case errors.Is(err, backend.ErrStale), errors.Is(err, backend.ErrRolledBack), errors.Is(err, errClosed), errors.Is(err, pgx.ErrNoRows):
		return false
	case errors.As(err, &p):
		return p.SeverityUnlocalized == "FATAL" || p.Severity == "FATAL"
	}
	return pgconn.SafeToRetry(err) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.As(err, new(net.Error))
}
