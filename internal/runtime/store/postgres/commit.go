package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// Commit implements [backend.Backend]. It takes one round trip: a call of the function
// petrigate_commit, which runs in its own transaction. Thus a slow or dying process does not keep
// locks.
//
// The isolation level is READ COMMITTED: each statement of the function sees everything committed
// before the statement began. That is enough, because the following are locked before they are
// read, in this order, and stay locked until the end of the transaction:
//
//   - The stops, by a table lock: commits that admit calls share the lock, and SetStop acquires
//     it exclusively. When SetStop has returned, each later admission sees the stop. An advisory
//     lock would not do, because any role that can connect could hold it. A row lock would not
//     do either, because commits that share a row lock would not queue behind a stop.
//   - The writer, by SELECT FOR UPDATE. Its row contains the commit count, so a commit that is
//     sent twice or arrives late is refused (fencing).
//   - Used approvals, by SELECT FOR UPDATE in ID order.
//   - Missing parts, by inserting a row with version 0 for each, ordered by scope and name. A
//     transaction that inserts the same row waits for the end of this transaction, and then
//     finds a row with another version.
//   - Existing parts, by SELECT FOR UPDATE in the same order. If another transaction has just
//     changed the row, PostgreSQL returns the new version. If the row has been removed, the op
//     is stale. Parts that the batch only reads are locked by SELECT FOR SHARE, so that
//     transactions that only read them do not wait for each other.
//
// Value rows and records need no locks: a transaction locks a part before it writes the part's
// value rows, and a process adds records only to its own chain.
//
// Commits cannot deadlock with each other, because all of them acquire the locks in this order. An
// inserted row that is not committed is visible only to transactions that insert the same row, not
// to those that lock rows, so an inserting transaction may wait for a locking one, but never the
// reverse. The commits of two processes wait for each other only if they use the same part or
// approval, or if one of them is made by SetStop.
//
// If an op is refused, later ops of the batch that depend on its changes are stale. Version numbers
// alone would not reveal such ops, because another process may have written a version with the same
// number.
func (d *DB) Commit(ctx context.Context, ops []*backend.Op) error {
	return d.commit(ctx, "committing to", ops, nil)
}

// SetStop implements [backend.Backend].
func (d *DB) SetStop(ctx context.Context, s backend.Stop, on bool, events ...backend.Event) error {
	ops := []*backend.Op{{Session: s.Session, Events: events, Time: s.Time}}
	if err := d.commit(ctx, "stopping or starting in", ops, func(b *batch) { b.addStop(s, on) }); err != nil {
		return err
	}
	d.notify(ctx)
	return nil
}

func (d *DB) commit(ctx context.Context, doing string, ops []*backend.Op, change func(*batch)) error {
	within, cancel, err := d.lockWriter(ctx, doing)
	if err != nil {
		return err
	}
	defer cancel()
	defer d.writer.unlock()
	err = d.writer.commit(within, ops, change)
	var u *uncertainError
	switch {
	case err == nil:
		return nil
	case diskFull(err):
		d.space.noteFull(backend.LargestSize(ops))
	case errors.As(err, &u):
		d.health.set(d.wrap(doing, u.cause)) // later operations that are not sent fail with the same error, so its text must not say that the outcome is unknown
	default:
		d.health.set(d.wrap(doing, err))
	}
	return d.wrap(doing, err)
}

// lockWriter locks the writer, unless the database is unavailable; see [DB.checkAvailable]. If the
// database becomes unavailable while lockWriter waits for the lock, it unlocks the writer and calls
// checkAvailable again. If err is nil, the caller must unlock the writer and call cancel.
func (d *DB) lockWriter(ctx context.Context, doing string) (within context.Context, cancel context.CancelFunc, err error) {
	// A sent commit continues after its caller has given up, because otherwise its outcome would be
	// unknown.
	within, cancel = context.WithTimeout(context.WithoutCancel(ctx), d.timeout)
	for {
		if err = d.checkAvailable(ctx); err != nil {
			break
		}
		if err = ctx.Err(); err == nil {
			err = d.writer.lock(within)
		}
		if err != nil {
			err = d.wrap(doing, err)
			break
		}
		if d.health.get() == nil {
			return within, cancel, nil
		}
		d.writer.unlock()
	}
	cancel()
	return nil, nil, err
}

// Stops implements [backend.Backend].
func (d *DB) Stops(ctx context.Context) ([]backend.Stop, error) {
	var stops []backend.Stop
	err := d.read(ctx, "reading the kill switch in", func(ctx context.Context) error {
		var session, actor, reason []byte
		var at time.Time
		stops = nil
		return d.forEachRow(ctx, []any{&session, &actor, &reason, &at}, func() {
			stops = append(stops, backend.Stop{Session: string(session), Actor: string(actor), Reason: string(reason), Time: at})
		}, `SELECT session, actor, reason, time FROM petrigate_stop ORDER BY time, session`)
	})
	return stops, err
}
