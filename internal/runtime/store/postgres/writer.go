package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// writer is this process as the database knows it: who may commit, and what was the last
// that did. One goroutine at a time has its turn.
type writer struct {
	pool  *pgxpool.Pool
	name  string
	no    int64
	flush bool
	fresh *fresh

	closed    atomic.Bool
	turn      chan struct{} // full while a goroutine has its turn
	unsettled atomic.Bool   // what is below may not be as in the database

	// Whoever has the turn may touch these.
	fence   int64  // commits with a lower one are refused
	commits int64  // so far
	flushed int64  // commits that a crash of the server cannot undo
	doubt   bool   // one more was sent, of which nothing was heard
	mark    string // see fresh
}

func (w *writer) take(ctx context.Context) error {
	select {
	case w.turn <- struct{}{}:
		if w.closed.Load() {
			w.leave()
			return errClosed
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *writer) leave() { <-w.turn }

// attempts bounds how often a commit is begun anew while the database answers.
const attempts = 8

// Errors of one attempt.
var (
	errLost   = errors.New("the connection was lost, and it is not known how the commit ended")
	errClosed = errors.New("it was closed")
	errMoved  = errors.New("the server has recovered from a crash, or an earlier commit took effect")
)

// commit commits ops, and what change adds to them where it is not nil. A connection that
// breaks is not the end: the database says afterwards whether the commit took effect, and
// what it answered. Where it cannot be asked before the time is over, the error is
// [backend.ErrUncertain].
func (w *writer) commit(ctx context.Context, ops []*backend.Op, change func(*batch)) error {
	var open *batch
	for n := 1; ; n++ {
		err := w.attempt(ctx, &open, ops, change)
		if err == nil {
			return nil
		}
		if !worthwhile(err, n) || pause(ctx, n) != nil {
			if open != nil {
				return &uncertainError{err}
			}
			return err
		}
	}
}

// uncertainError is a [backend.ErrUncertain].
type uncertainError struct{ cause error }

func (u *uncertainError) Error() string   { return fmt.Sprintf("%v: %v", backend.ErrUncertain, u.cause) }
func (u *uncertainError) Unwrap() []error { return []error{backend.ErrUncertain, u.cause} }

// attempt is one attempt. The batch of an earlier one that is open is settled first.
func (w *writer) attempt(ctx context.Context, open **batch, ops []*backend.Op, change func(*batch)) error {
	if w.unsettled.Load() {
		committed, codes, err := w.settle(ctx)
		if err != nil {
			return err
		}
		b := *open
		*open = nil
		if b != nil && committed {
			return b.answered(answer{codes: codes}, w.mark, w.fresh)
		}
	}
	b := newBatch(ops, w.fresh)
	if change != nil {
		change(b)
	} else if len(b.ops) == 0 {
		return nil
	}
	err := w.send(ctx, b)
	if errors.Is(err, errLost) {
		*open = b
	}
	return err
}

// worthwhile reports whether a further attempt after n may do better.
func worthwhile(err error, n int) bool {
	var p *pgconn.PgError
	switch {
	case errors.Is(err, backend.ErrRolledBack), errors.Is(err, errClosed):
		return false
	case errors.Is(err, errMoved):
		return n < attempts
	case errors.As(err, &p) && definite(err):
		return n < attempts && (p.Code == "40001" || p.Code == "40P01")
	}
	return true
}

// definite reports whether the server itself has said that it has failed, and goes on.
// One that ends a connection may do so after the commit.
func definite(err error) bool {
	var p *pgconn.PgError
	return errors.As(err, &p) && (p.SeverityUnlocalized == "ERROR" || p.Severity == "ERROR") && !errors.Is(err, errLost)
}

// pause waits longer from one attempt to the next.
func pause(ctx context.Context, n int) error {
	t := time.NewTimer(min(time.Millisecond<<min(n, 10), 250*time.Millisecond))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// send sends a batch, in one round trip.
func (w *writer) send(ctx context.Context, b *batch) error {
	conn, err := w.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	args := append([]any{w.no, w.fence, w.commits, w.mark, w.flush}, b.args()...)
	var state string
	var a answer
	switch err := conn.QueryRow(ctx, commitSQL, args...).Scan(&state, &a.codes, &a.newest); {
	case err == nil:
	case definite(err) || pgconn.SafeToRetry(err):
		w.reset(err)
		return err
	default:
		w.doubt = true
		w.unsettled.Store(true)
		w.pool.Reset()
		return fmt.Errorf("%w: %w", errLost, err)
	}
	if state != "done" && state != "flushed" {
		w.unsettled.Store(true)
		return errMoved
	}
	w.commits++
	if state == "flushed" {
		w.flushed = w.commits
	}
	return b.answered(a, w.mark, w.fresh)
}

// reset drops the connections where they are to a server that takes no writes: another
// may have taken over.
func (w *writer) reset(err error) {
	var p *pgconn.PgError
	if !errors.As(err, &p) || p.Code == "25006" {
		w.pool.Reset()
	}
}

// settle asks where this writer stands, and has the database refuse what is still on its
// way. It reports whether the commit that was in doubt took effect, and its answer.
func (w *writer) settle(ctx context.Context) (committed bool, codes []int32, err error) {
	var fence, commits *int64
	var mark string
	row := w.pool.QueryRow(ctx, `SELECT o_fence, o_turn, o_codes, o_mark FROM petrigate_resume($1)`, w.no)
	if err := row.Scan(&fence, &commits, &codes, &mark); err != nil {
		if !definite(err) {
			w.pool.Reset()
		}
		w.reset(err)
		return false, nil, err
	}
	if fence == nil {
		return false, nil, fmt.Errorf("%w: it does not know this process, which has made %d commits there", backend.ErrRolledBack, w.commits)
	}
	least := w.commits
	if mark != w.mark {
		least = w.flushed // a crash may undo what did not wait for the disk
	}
	switch {
	case *commits == w.commits+1 && w.doubt:
		committed = true
	case *commits < least || *commits > w.commits:
		return false, nil, fmt.Errorf("%w: it has %d commits of this process, which has made %d", backend.ErrRolledBack, *commits, w.commits)
	}
	w.fresh.begin(mark)
	w.fence, w.commits, w.flushed, w.mark, w.doubt = *fence, *commits, *commits, mark, false
	w.unsettled.Store(false)
	return committed, codes, nil
}

// probe writes where nothing is to be written, to see whether it can be.
func (w *writer) probe(ctx context.Context) error {
	if err := w.take(ctx); err != nil {
		return err
	}
	defer w.leave()
	_, _, err := w.settle(ctx)
	return err
}

// Writers without records are of no use once they have ended: of verbs that only read. One
// that was killed is not there to say so.
const (
	resignSQL = `DELETE FROM petrigate_writer WHERE no = $1 AND seq = 0`
	idleSQL   = `DELETE FROM petrigate_writer WHERE seq = 0 AND seen < now() - interval '7 days'`
)

// resign removes this writer if it has committed nothing.
func (w *writer) resign(within time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	if w.take(ctx) != nil {
		return
	}
	defer w.leave()
	if w.commits == 0 && !w.doubt {
		_, _ = w.pool.Exec(ctx, resignSQL, w.no) // the next that opens the database does it otherwise
	}
}

// settled settles what is open, before anything is read.
func (w *writer) settled(ctx context.Context) error {
	if !w.unsettled.Load() {
		return nil
	}
	return w.probe(ctx)
}

// commitSQL calls petrigate_commit with 31 arguments.
const commitSQL = `SELECT o_state, o_codes, o_newest FROM petrigate_commit($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,
	$15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31)`
