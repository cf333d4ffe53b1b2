package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// The notification channel is named after the OID of a table, so that each schema in the database
// has its own channel.
const (
	channelSQL = `SELECT 'petrigate_' || 'petrigate_change'::regclass::oid::text`
	notifySQL  = `SELECT pg_notify('petrigate_' || 'petrigate_change'::regclass::oid::text, '')`
)

// A listener waits on its own connection for changes made by other processes.
type listener struct {
	db     *DB
	config *pgx.ConnConfig
	poll   time.Duration // polling interval

	changes chan struct{} // contains an element if anything has changed since the last receive
}

// wake wakes the goroutine that receives from l.changes.
func (l *listener) wake() {
	select {
	case l.changes <- struct{}{}:
	default:
	}
}

// listen waits for changes on its own connection until ctx is done. When the connection breaks, it
// waits for a probe of the database and connects again.
func (l *listener) listen(ctx context.Context) {
	for ctx.Err() == nil {
		_ = l.listenOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		l.db.pool.Reset() // the pool's connections are probably broken too
		l.db.health.waitForProbe(ctx)
		l.wake()
		_ = sleep(ctx, l.poll)
	}
}

// listenOnce listens until the connection breaks. It also polls whenever no notification has
// arrived for some time, because a connection pooler may drop notifications.
func (l *listener) listenOnce(ctx context.Context) error {
	conn, err := l.dial(ctx)
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
		if n, err := l.changeCount(ctx, conn); err != nil {
			if timedOut(err) && ctx.Err() == nil {
				l.db.health.suspect(l.db.wrap("polling", err))
			}
			return err
		} else if n != seen {
			seen = n
			l.wake()
		}
		if l.db.health.get() != nil {
			l.db.health.waitForProbe(ctx)
		}
		if err := waitForNotification(ctx, conn, l.poll); err != nil {
			return err
		}
	}
}

func (l *listener) dial(ctx context.Context) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, l.db.timeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, l.config)
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

// changeCount returns the number of changes to approvals and stops so far.
func (l *listener) changeCount(ctx context.Context, conn *pgx.Conn) (n int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, l.db.timeout)
	defer cancel()
	err = conn.QueryRow(ctx, `SELECT n FROM petrigate_change`).Scan(&n)
	return n, err
}

// waitForNotification waits for a notification for at most the polling interval.
func waitForNotification(ctx context.Context, conn *pgx.Conn, poll time.Duration) error {
	within, cancel := context.WithTimeout(ctx, poll)
	defer cancel()
	_, err := conn.WaitForNotification(within)
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) || pgconn.Timeout(err) && !conn.IsClosed() {
		return ctx.Err()
	}
	return err
}
