package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// Commit implements [backend.Backend]. It is one round trip: one call of the function
// petrigate_commit, which is a transaction of its own. So no lock is ever held while this
// process is slow, and a process that dies leaves none.
//
// The isolation level is READ COMMITTED, where each statement of the function sees what
// was committed before it began. That is enough, because every row on which an answer
// depends is locked before it is read, and stays locked until the end:
//
//   - The writer, by SELECT FOR UPDATE. It says how many commits there were, so one that
//     is sent again, or comes late, is refused.
//   - The stops, by a lock of their table: commits that reserve share it, SetStop has it alone.
//     Once SetStop has returned, each commit that reserves sees the stop. It is neither an
//     advisory lock, which any role that can connect could hold, nor the lock of a row, for
//     which commits that share it would not queue behind a stop.
//   - Approvals that are used up, by SELECT FOR UPDATE in the order of ids.
//   - Parts that are there, by SELECT FOR UPDATE in the order of scope and name. Where
//     another has changed the row meanwhile, PostgreSQL returns it as it is by then.
//     Those that the whole batch only reads are locked with SELECT FOR SHARE, in the same
//     order, so that their readers do not wait for each other.
//   - Parts that are not there have no row to lock, so one is inserted first, in the same
//     order, with version 0. Who inserts the same one waits for the end of this
//     transaction, and then finds a row with another version. A row that was removed
//     between the two steps is not found, and its op is stale.
//
// Nobody else writes rows of values: only who has locked their part. Records are of the
// writer alone.
//
// There is no deadlock. The five steps are taken in this order by all, and within a step
// in the order of the rows. A row that was inserted and not committed is seen by nobody
// who locks rows, only by who inserts: who inserts may wait for one who locks, never the
// other way round. The chain of records is of one writer, so that processes wait for each
// other only where they share a part.
//
// An op on a part that an op before it was refused on is stale: it read what never came
// to be, and another process may have written the same number of the version.
func (d *DB) Commit(ctx context.Context, ops []*backend.Op) error {
	return d.commit(ctx, "committing to", ops, nil)
}

// SetStop implements [backend.Backend].
func (d *DB) SetStop(ctx context.Context, s backend.Stop, on bool, events ...backend.Event) error {
	ops := []*backend.Op{{Session: s.Session, Events: events, Time: s.Time}}
	if err := d.commit(ctx, "stopping or starting in", ops, func(b *batch) { b.turn(s, on) }); err != nil {
		return err
	}
	d.announce(ctx)
	return nil
}

func (d *DB) commit(ctx context.Context, doing string, ops []*backend.Op, change func(*batch)) error {
	within, cancel, err := d.turn(ctx, doing)
	if err != nil {
		return err
	}
	defer cancel()
	defer d.writer.leave()
	err = d.writer.commit(within, ops, change)
	var u *uncertainError
	switch {
	case err == nil:
		return nil
	case full(err):
		d.room.lacked(backend.Largest(ops))
	case errors.As(err, &u):
		d.health.set(d.failed(doing, u.cause)) // of the next commits it is known that they did nothing
	default:
		d.health.set(d.failed(doing, err))
	}
	return d.failed(doing, err)
}

// turn takes the turn of the writer, unless the database is away. Where that was found out while the
// turn was waited for, nothing is begun, and the next trial of the database decides.
func (d *DB) turn(ctx context.Context, doing string) (within context.Context, cancel context.CancelFunc, err error) {
	// A commit that was sent goes on when its caller gives up: otherwise its end would not be known.
	within, cancel = context.WithTimeout(context.WithoutCancel(ctx), d.timeout)
	for {
		if err = d.available(ctx); err != nil {
			break
		}
		if err = ctx.Err(); err == nil {
			err = d.writer.take(within)
		}
		if err != nil {
			err = d.failed(doing, err)
			break
		}
		if d.health.get() == nil {
			return within, cancel, nil
		}
		d.writer.leave()
	}
	cancel()
	return nil, nil, err
}

// Stops implements [backend.Backend].
func (d *DB) Stops(ctx context.Context) ([]backend.Stop, error) {
	var stops []backend.Stop
	err := d.read(ctx, "reading what is stopped in", func(ctx context.Context) error {
		rows, err := d.pool.Query(ctx, `SELECT session, actor, reason, time FROM petrigate_stop ORDER BY time, session`)
		if err != nil {
			return err
		}
		var session, actor, reason []byte
		var at time.Time
		stops = nil
		return each(rows, []any{&session, &actor, &reason, &at}, func() {
			stops = append(stops, backend.Stop{Session: string(session), Actor: string(actor), Reason: string(reason), Time: at})
		})
	})
	return stops, err
}
