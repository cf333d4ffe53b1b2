package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// The channel is of the schema: several may be in one database.
const (
	channelSQL = `SELECT 'petrigate_' || 'petrigate_change'::regclass::oid::text`
	notifySQL  = `SELECT pg_notify('petrigate_' || 'petrigate_change'::regclass::oid::text, '')`
)

// announce wakes the other processes after a change of approvals or stops. It is no part
// of the transaction, since one that notifies holds a lock of the whole server while it
// commits. Where it fails, they poll.
func (d *DB) announce(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	_, _ = d.pool.Exec(ctx, notifySQL)
	d.wake()
}

// wake wakes whoever reads the channel of changes.
func (d *DB) wake() {
	select {
	case d.changes <- struct{}{}:
	default:
	}
}

// listen waits for changes on a connection of its own, and tries the database again while
// it is away, until ctx is over.
func (d *DB) listen(ctx context.Context, config *pgx.ConnConfig, poll time.Duration) {
	for ctx.Err() == nil {
		_ = d.follow(ctx, config, poll)
		if ctx.Err() != nil {
			return
		}
		d.pool.Reset() // the connection broke, and those of the pool have hardly fared better
		d.trial(ctx)
		d.wake()
		sleep(ctx, poll)
	}
}

func sleep(ctx context.Context, t time.Duration) {
	timer := time.NewTimer(t)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// follow listens until the connection breaks. It polls as well, each time that nothing has
// come for a while: a pooler in between may swallow notifications.
func (d *DB) follow(ctx context.Context, config *pgx.ConnConfig, poll time.Duration) error {
	conn, err := d.dial(ctx, config)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	seen := int64(-1)
	for {
		if n, err := d.changed(ctx, conn); err != nil {
			if timedOut(err) && ctx.Err() == nil {
				d.health.suspect(d.failed("polling", err))
			}
			return err
		} else if n != seen {
			seen = n
			d.wake()
		}
		if d.health.get() != nil {
			d.trial(ctx)
		}
		if err := await(ctx, conn, poll); err != nil {
			return err
		}
	}
}

func (d *DB) dial(ctx context.Context, config *pgx.ConnConfig) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	var channel string
	if err = conn.QueryRow(ctx, channelSQL).Scan(&channel); err == nil {
		_, err = conn.Exec(ctx, `LISTEN `+pgx.Identifier{channel}.Sanitize())
	}
	if err != nil {
		_ = conn.Close(ctx)
		return nil, err
	}
	return conn, nil
}

// changed is how often approvals and stops have changed.
func (d *DB) changed(ctx context.Context, conn *pgx.Conn) (n int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	err = conn.QueryRow(ctx, `SELECT n FROM petrigate_change`).Scan(&n)
	return n, err
}

// await waits for a notification, but not for longer than it may take.
func await(ctx context.Context, conn *pgx.Conn, poll time.Duration) error {
	within, cancel := context.WithTimeout(ctx, poll)
	defer cancel()
	_, err := conn.WaitForNotification(within)
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) || pgconn.Timeout(err) && !conn.IsClosed() {
		return ctx.Err()
	}
	return err
}
