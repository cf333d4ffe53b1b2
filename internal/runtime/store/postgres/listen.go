package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// The channel has the id of a table in its name: a database may have several schemas.
const (
	channelSQL = `SELECT 'petrigate_' || 'petrigate_change'::regclass::oid::text`
	notifySQL  = `SELECT pg_notify('petrigate_' || 'petrigate_change'::regclass::oid::text, '')`
)

// notify wakes the other processes after a change of approvals or stops. It is not part of the
// transaction, since a transaction that notifies holds a lock of the whole server while it commits.
// If it fails, the other processes find the change by polling.
func (d *DB) notify(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	_, _ = d.pool.Exec(ctx, notifySQL)
	d.wake()
}

// wake wakes the reader of the channel of changes.
func (d *DB) wake() {
	select {
	case d.changes <- struct{}{}:
	default:
	}
}

// listen waits for changes on a connection of its own until ctx ends. When the connection breaks,
// it waits for a probe of the database and connects again.
func (d *DB) listen(ctx context.Context, config *pgx.ConnConfig, poll time.Duration) {
	for ctx.Err() == nil {
		_ = d.listenOnce(ctx, config, poll)
		if ctx.Err() != nil {
			return
		}
		d.pool.Reset() // the connections of the pool are probably broken too
		d.waitForProbe(ctx)
		d.wake()
		sleep(ctx, poll)
	}
}

// listenOnce listens until the connection breaks. It also polls whenever no notification has
// arrived for a while: a connection pooler may drop notifications.
func (d *DB) listenOnce(ctx context.Context, config *pgx.ConnConfig, poll time.Duration) error {
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
		if n, err := d.changeCount(ctx, conn); err != nil {
			if timedOut(err) && ctx.Err() == nil {
				d.health.suspect(d.wrap("polling", err))
			}
			return err
		} else if n != seen {
			seen = n
			d.wake()
		}
		if d.health.get() != nil {
			d.waitForProbe(ctx)
		}
		if err := waitForNotification(ctx, conn, poll); err != nil {
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

// changeCount returns the number of changes of approvals and stops.
func (d *DB) changeCount(ctx context.Context, conn *pgx.Conn) (n int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	err = conn.QueryRow(ctx, `SELECT n FROM petrigate_change`).Scan(&n)
	return n, err
}

// waitForNotification waits for a notification, at most for the time poll.
func waitForNotification(ctx context.Context, conn *pgx.Conn, poll time.Duration) error {
	within, cancel := context.WithTimeout(ctx, poll)
	defer cancel()
	_, err := conn.WaitForNotification(within)
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) || pgconn.Timeout(err) && !conn.IsClosed() {
		return ctx.Err()
	}
	return err
}
