package postgres

import (
	"cmp"
	"context"
	"crypto/rand"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Open connects to the database, migrates its schema, and registers this process as the writer of a
// new chain of records.
func Open(ctx context.Context, o Options) (*DB, error) {
	o.Timeout = cmp.Or(o.Timeout, 5*time.Second)
	config, err := parse(o)
	if err != nil {
		return nil, err
	}
	d := &DB{name: describe(config.ConnConfig), timeout: o.Timeout, fresh: &freshParts{}, health: newHealth()}
	if d.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, d.wrap("opening", err)
	}
	d.listener = &listener{db: d, config: config.ConnConfig.Copy(), poll: cmp.Or(o.Poll, time.Second), changes: make(chan struct{}, 1)}
	if err := d.setUp(ctx, o); err != nil {
		d.pool.Close()
		return nil, d.wrap("opening", err)
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	d.stop = stop
	d.background.Go(func() { d.probeLoop(background) })
	d.background.Go(func() { d.listener.listen(background) })
	return d, nil
}

// setUp migrates the schema and registers this process as a writer.
func (d *DB) setUp(ctx context.Context, o Options) error {
	ctx, cancel := context.WithTimeout(ctx, 6*o.Timeout) // long timeout, because another process may be migrating the schema
	defer cancel()
	err := pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error { return migrate(ctx, tx) })
	for n := 1; n < maxAttempts && concurrentMigration(err); n++ {
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

// Ready implements [backend.Backend]. If the database is unavailable, Ready requests a probe. It
// waits briefly for the probe, unless the last operation timed out.
func (d *DB) Ready(ctx context.Context) error {
	if d.writer.closed.Load() {
		return d.wrap("trying", errClosed)
	}
	if err := d.checkAvailable(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	if err := d.space.check(ctx, d.writer); err != nil {
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
	d.background.Wait()
	ended := make(chan struct{})
	go func() { d.pool.Close(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(d.timeout): // on a network that drops all packets, the cleanup would take a long time
	}
	return nil
}
