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

// A writer sends this process's commits to the database. The database assigns it a number and
// remembers its last commit. Only one goroutine at a time may use it, between lock and unlock.
type writer struct {
	pool  *pgxpool.Pool
	name  string
	no    int64
	flush bool
	fresh *freshParts

	closed     atomic.Bool
	sem        chan struct{} // semaphore of size one, held while a goroutine uses the writer
	mustResume atomic.Bool   // whether the fields below might differ from the database

	// The following fields are guarded by sem.
	fence     int64  // fencing token; commits that have a lower token are refused
	commits   int64  // number of commits so far
	flushed   int64  // number of commits that a server crash cannot undo
	uncertain bool   // whether an earlier commit was sent but not answered
	mark      string // identifies the period since the server's last crash; see freshParts
}

func (w *writer) lock(ctx context.Context) error {
	select {
	case w.sem <- struct{}{}:
		if w.closed.Load() {
			w.unlock()
			return errClosed
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *writer) unlock() { <-w.sem }

// maxAttempts is the maximum number of attempts per commit, as long as the database responds.
const maxAttempts = 8

// Errors that a single attempt to commit can return.
var (
	errLost   = errors.New("the connection was lost, and the commit's outcome is unknown")
	errClosed = errors.New("it was closed")
	errMoved  = errors.New("the server has recovered from a crash, or an earlier commit has taken effect")
)

// commit commits ops. If change is not nil, commit calls it on the encoded ops before sending them.
// If the connection breaks, commit asks the database whether the ops were committed. If the
// database does not reply in time, commit returns [backend.ErrUncertain].
func (w *writer) commit(ctx context.Context, ops []*backend.Op, change func(*batch)) error {
	var open *batch
	for n := 1; ; n++ {
		err := w.attempt(ctx, &open, ops, change)
		if err == nil {
			return nil
		}
		if !shouldRetry(err, n) || backoff(ctx, n) != nil {
			if open != nil {
				return &uncertainError{err}
			}
			return err
		}
	}
}

// uncertainError wraps the cause of a [backend.ErrUncertain].
type uncertainError struct{ cause error }

func (u *uncertainError) Error() string   { return fmt.Sprintf("%v: %v", backend.ErrUncertain, u.cause) }
func (u *uncertainError) Unwrap() []error { return []error{backend.ErrUncertain, u.cause} }

// attempt tries once to commit ops. If an earlier attempt received no answer, *open must be the
// batch of that attempt; otherwise, *open must be nil. attempt first asks the database whether that
// batch was committed. If it was, attempt does not send the ops again. If the new attempt receives
// no answer, attempt stores the new batch in *open.
func (w *writer) attempt(ctx context.Context, open **batch, ops []*backend.Op, change func(*batch)) error {
	if w.mustResume.Load() {
		committed, codes, err := w.resume(ctx)
		if err != nil {
			return err
		}
		b := *open
		*open = nil
		if b != nil && committed {
			return b.applyAnswer(answer{codes: codes}, w.mark, w.fresh)
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

// shouldRetry reports whether another attempt may succeed after n attempts have failed.
func shouldRetry(err error, n int) bool {
	switch code := sqlState(err); {
	case errors.Is(err, backend.ErrRolledBack), errors.Is(err, errClosed):
		return false
	case errors.Is(err, errMoved):
		return n < maxAttempts
	case isDefinite(err):
		return n < maxAttempts && (code == "40001" || code == "40P01")
	}
	return true
}

// isDefinite reports whether the server has reported the failure and kept the connection open. If
// the server ends a connection, the commit may already have taken effect.
func isDefinite(err error) bool {
	var p *pgconn.PgError
	return errors.As(err, &p) && (p.SeverityUnlocalized == "ERROR" || p.Severity == "ERROR") && !errors.Is(err, errLost)
}

// backoff waits before the next attempt. Each wait is longer than the previous one.
func backoff(ctx context.Context, n int) error {
	return sleep(ctx, min(time.Millisecond<<min(n, 10), 250*time.Millisecond))
}

// sleep waits until t has passed or ctx is done. If ctx is done first, it returns ctx.Err().
func sleep(ctx context.Context, t time.Duration) error {
	select {
	case <-time.After(t):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// send sends a batch in one round trip.
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
	case isDefinite(err) || pgconn.SafeToRetry(err):
		w.resetPool(err)
		return err
	default:
		w.uncertain = true
		w.mustResume.Store(true)
		w.pool.Reset()
		return fmt.Errorf("%w: %w", errLost, err)
	}
	if state != "done" && state != "flushed" {
		w.mustResume.Store(true)
		return errMoved
	}
	w.commits++
	if state == "flushed" {
		w.flushed = w.commits
	}
	return b.applyAnswer(a, w.mark, w.fresh)
}

// resetPool drops the connections if they lead to a server that accepts no writes, because another
// server may have taken over.
func (w *writer) resetPool(err error) {
	if code := sqlState(err); code == "" || code == "25006" {
		w.pool.Reset()
	}
}

// resume reads this writer's state from the database, and makes the database refuse commits that
// are still in transit. It reports whether a commit that received no answer took effect, and
// returns the result codes of the last commit.
func (w *writer) resume(ctx context.Context) (committed bool, codes []int32, err error) {
	var fence, commits *int64
	var mark string
	row := w.pool.QueryRow(ctx, `SELECT o_fence, o_turn, o_codes, o_mark FROM petrigate_resume($1)`, w.no)
	if err := row.Scan(&fence, &commits, &codes, &mark); err != nil {
		if !isDefinite(err) {
			w.pool.Reset()
		}
		w.resetPool(err)
		return false, nil, err
	}
	if fence == nil {
		return false, nil, fmt.Errorf("%w: it has no commits of this process, which has made %d there", backend.ErrRolledBack, w.commits)
	}
	least := w.commits
	if mark != w.mark {
		least = w.flushed // a crash may undo commits that have not waited for the disk
	}
	switch {
	case *commits == w.commits+1 && w.uncertain:
		committed = true
	case *commits < least || *commits > w.commits:
		return false, nil, fmt.Errorf("%w: it has only %d of this process's %d commits", backend.ErrRolledBack, *commits, w.commits)
	}
	w.fresh.setMark(mark)
	w.fence, w.commits, w.flushed, w.mark, w.uncertain = *fence, *commits, *commits, mark, false
	w.mustResume.Store(false)
	return committed, codes, nil
}

// probe checks whether the database is writable. It calls resume, which writes to the database.
func (w *writer) probe(ctx context.Context) error {
	if err := w.lock(ctx); err != nil {
		return err
	}
	defer w.unlock()
	_, _, err := w.resume(ctx)
	return err
}

// Statements that remove writers without records, such as the writer of a command that only reads.
// When the database is closed, resignSQL removes this process's own writer. idleSQL removes the
// writers of killed processes, after seven days without use.
const (
	resignSQL = `DELETE FROM petrigate_writer WHERE no = $1 AND seq = 0`
	idleSQL   = `DELETE FROM petrigate_writer WHERE seq = 0 AND seen < now() - interval '7 days'`
)

// removeIfUnused removes this writer if it has committed nothing.
func (w *writer) removeIfUnused(within time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	if w.lock(ctx) != nil {
		return
	}
	defer w.unlock()
	if w.commits == 0 && !w.uncertain {
		_, _ = w.pool.Exec(ctx, resignSQL, w.no) // if this fails, idleSQL will remove the writer
	}
}

const commitSQL = `SELECT o_state, o_codes, o_newest FROM petrigate_commit($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,
	$15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31)`
