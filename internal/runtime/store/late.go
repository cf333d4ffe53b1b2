package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// LateBackend is a database that may be unreachable when the process starts. It is opened on first use;
// until that succeeds, every operation fails.
type LateBackend struct {
	open func(context.Context) (backend.Backend, error)
	log  *slog.Logger

	mu          sync.Mutex
	inner       backend.Backend // nil until the database is open
	attemptDone chan struct{}   // closed when the current attempt to open the database ends; nil if no attempt is in progress
	tried       time.Time
	since       time.Time // time when the database was opened
	err         error     // error of the last attempt, or [errSilent]
	unusable    error     // error of the first attempt if it is permanent, otherwise nil
	closed      bool
}

var (
	_ backend.Backend = (*LateBackend)(nil)
	_ backend.Pins    = (*LateBackend)(nil)
)

// NewLateBackend returns a database that is opened on first use, by calling the given function. It logs
// when an attempt fails and when the database becomes available.
func NewLateBackend(open func(context.Context) (backend.Backend, error), log *slog.Logger) *LateBackend {
	return &LateBackend{open: open, log: log}
}

// Limits that apply once the first attempt to open the database has failed or taken too long.
// retryInterval is the minimum pause between attempts, and probeWait is the maximum time that a
// caller waits for an attempt.
const (
	retryInterval = time.Second
	probeWait     = 500 * time.Millisecond
)

// ErrLate is returned while the database is not open yet.
var ErrLate = errors.New("the state database is not open yet")

// Try opens the database if it is not open yet.
func (l *LateBackend) Try(ctx context.Context) error {
	_, err := l.get(ctx)
	return err
}

// errSilent means that the first attempt to open the database has not ended within the time that
// the process waits at startup.
var errSilent = errors.New("it does not answer")

// get returns the database. If it is not open yet, get starts an attempt to open it, or joins the
// attempt in progress, and waits until the attempt ends or ctx is done. After an attempt has failed
// or a caller's deadline has passed, get waits at most probeWait, so that an unresponsive network
// does not delay every caller. If the last attempt failed less than retryInterval ago, get returns
// the error of that attempt and does not start a new one.
func (l *LateBackend) get(ctx context.Context) (backend.Backend, error) {
	l.mu.Lock()
	switch {
	case l.attemptDone == nil && (l.inner != nil || l.closed || l.err != nil && time.Since(l.tried) < retryInterval):
		defer l.mu.Unlock()
		return l.result(ctx)
	case l.attemptDone == nil:
		l.attemptDone = make(chan struct{})
		go l.attempt(context.WithoutCancel(ctx), l.attemptDone) // the attempt continues even if the caller that started it has given up
	}
	ended := l.attemptDone
	if l.err != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, probeWait)
		defer cancel()
	}
	l.mu.Unlock()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.result(ctx)
}

// attempt tries once to open the database, and closes the channel when the attempt is over.
func (l *LateBackend) attempt(ctx context.Context, ended chan struct{}) {
	inner, err := l.open(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	defer close(ended)
	l.attemptDone, l.tried, l.unusable = nil, time.Now(), nil
	switch {
	case err == nil && l.closed:
		_ = inner.Close() // not needed, because the process is shutting down
	case err == nil:
		if l.err != nil {
			l.log.Info("opened the state database: petrigate decides on calls again")
		}
		l.inner, l.since, l.err = inner, l.tried, nil
	case errors.Is(err, backend.ErrUnusable) && l.err == nil:
		l.unusable = err // not logged, because the process reports a permanent error at startup
	default:
		l.fail(err)
	}
}

// fail records why the database cannot be opened, and logs the first such error. The caller must
// hold the lock.
func (l *LateBackend) fail(err error) {
	if l.err == nil {
		l.log.Error("cannot open the state database: petrigate refuses every call and retries", "error", err)
	}
	l.err = err
}

// result returns the database, or an error if it is not open. The caller must hold the lock.
func (l *LateBackend) result(ctx context.Context) (backend.Backend, error) {
	if l.err == nil && errors.Is(ctx.Err(), context.DeadlineExceeded) && l.attemptDone != nil {
		l.fail(errSilent)
	}
	switch {
	case l.closed:
		return nil, fmt.Errorf("%w: the process is stopping", ErrLate)
	case l.inner != nil:
		return l.inner, nil
	case l.unusable != nil:
		return nil, l.unusable
	case l.err != nil:
		return nil, fmt.Errorf("%w: %w", ErrLate, l.err)
	}
	return nil, fmt.Errorf("%w: %w", ErrLate, ctx.Err())
}

// Since returns the time when the database was opened, or the zero time if it is not open yet.
func (l *LateBackend) Since() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.since
}

// ifOpen returns the database if it is open, otherwise nil.
func (l *LateBackend) ifOpen() backend.Backend {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.inner
}

// whenOpen calls f with the database, opening it first if necessary.
func whenOpen[T any](ctx context.Context, l *LateBackend, f func(backend.Backend) (T, error)) (result T, err error) {
	b, err := l.get(ctx)
	if err != nil {
		return result, err
	}
	return f(b)
}

// do is like whenOpen, for a function that returns only an error.
func (l *LateBackend) do(ctx context.Context, f func(backend.Backend) error) error {
	b, err := l.get(ctx)
	if err != nil {
		return err
	}
	return f(b)
}

// Load implements [backend.Backend].
func (l *LateBackend) Load(ctx context.Context, ids ...backend.PartID) ([]backend.Part, error) {
	return whenOpen(ctx, l, func(b backend.Backend) ([]backend.Part, error) { return b.Load(ctx, ids...) })
}

// Versions implements [backend.Backend].
func (l *LateBackend) Versions(ctx context.Context, ids ...backend.PartID) ([]int64, error) {
	return whenOpen(ctx, l, func(b backend.Backend) ([]int64, error) { return b.Versions(ctx, ids...) })
}

// List implements [backend.Backend].
func (l *LateBackend) List(ctx context.Context, s backend.Scope, text string) iter.Seq2[backend.Part, error] {
	b, err := l.get(ctx)
	if err != nil {
		return func(yield func(backend.Part, error) bool) { yield(backend.Part{}, err) }
	}
	return b.List(ctx, s, text)
}

// Commit implements [backend.Backend].
func (l *LateBackend) Commit(ctx context.Context, ops []*backend.Op) error {
	return l.do(ctx, func(b backend.Backend) error { return b.Commit(ctx, ops) })
}

// Writer implements [backend.Backend]. The name is empty until the database is open.
func (l *LateBackend) Writer() string {
	if b := l.ifOpen(); b != nil {
		return b.Writer()
	}
	return ""
}

// Merges implements [backend.Backend].
func (l *LateBackend) Merges() bool {
	b := l.ifOpen()
	return b != nil && b.Merges()
}

// Heads implements [backend.Backend].
func (l *LateBackend) Heads(ctx context.Context) ([]backend.Record, error) {
	return whenOpen(ctx, l, func(b backend.Backend) ([]backend.Record, error) { return b.Heads(ctx) })
}

// Records implements [backend.Backend].
func (l *LateBackend) Records(ctx context.Context, q backend.Query) iter.Seq2[backend.Record, error] {
	b, err := l.get(ctx)
	if err != nil {
		return func(yield func(backend.Record, error) bool) { yield(backend.Record{}, err) }
	}
	return b.Records(ctx, q)
}

// RemoveRecords implements [backend.Backend].
func (l *LateBackend) RemoveRecords(ctx context.Context, writer string, through uint64, most int) (int, error) {
	return whenOpen(ctx, l, func(b backend.Backend) (int, error) { return b.RemoveRecords(ctx, writer, through, most) })
}

// PutApproval implements [backend.Backend].
func (l *LateBackend) PutApproval(ctx context.Context, a backend.Approval) (int64, error) {
	return whenOpen(ctx, l, func(b backend.Backend) (int64, error) { return b.PutApproval(ctx, a) })
}

// Approvals implements [backend.Backend].
func (l *LateBackend) Approvals(ctx context.Context, id, key string, since time.Time) ([]backend.Approval, error) {
	return whenOpen(ctx, l, func(b backend.Backend) ([]backend.Approval, error) { return b.Approvals(ctx, id, key, since) })
}

// DropApprovals implements [backend.Backend].
func (l *LateBackend) DropApprovals(ctx context.Context, before time.Time) error {
	return l.do(ctx, func(b backend.Backend) error { return b.DropApprovals(ctx, before) })
}

// SetStop implements [backend.Backend].
func (l *LateBackend) SetStop(ctx context.Context, s backend.Stop, on bool, e ...backend.Event) error {
	return l.do(ctx, func(b backend.Backend) error { return b.SetStop(ctx, s, on, e...) })
}

// Stops implements [backend.Backend].
func (l *LateBackend) Stops(ctx context.Context) ([]backend.Stop, error) {
	return whenOpen(ctx, l, func(b backend.Backend) ([]backend.Stop, error) { return b.Stops(ctx) })
}

// Changes implements [backend.Backend]. The channel is nil until the database is open.
func (l *LateBackend) Changes() <-chan struct{} {
	if b := l.ifOpen(); b != nil {
		return b.Changes()
	}
	return nil
}

// Ready implements [backend.Backend].
func (l *LateBackend) Ready(ctx context.Context) error {
	return l.do(ctx, func(b backend.Backend) error { return b.Ready(ctx) })
}

// Close implements [backend.Backend].
func (l *LateBackend) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.inner == nil {
		return nil
	}
	return l.inner.Close()
}

// errNoPins means that the database does not implement [backend.Pins].
var errNoPins = errors.New("the state database stores no accepted tool definitions")

func (l *LateBackend) pins(ctx context.Context) (backend.Pins, error) {
	b, err := l.get(ctx)
	if err != nil {
		return nil, err
	}
	if pins, ok := b.(backend.Pins); ok {
		return pins, nil
	}
	return nil, errNoPins
}

// Pins implements [backend.Pins].
func (l *LateBackend) Pins(ctx context.Context, after int64) (changed []backend.Pin, total int, err error) {
	pins, err := l.pins(ctx)
	if err != nil {
		return nil, 0, err
	}
	return pins.Pins(ctx, after)
}

// AddPins implements [backend.Pins].
func (l *LateBackend) AddPins(ctx context.Context, all []backend.Pin) (added int, err error) {
	pins, err := l.pins(ctx)
	if err != nil {
		return 0, err
	}
	return pins.AddPins(ctx, all)
}

// PutPin implements [backend.Pins].
func (l *LateBackend) PutPin(ctx context.Context, p backend.Pin) error {
	pins, err := l.pins(ctx)
	if err != nil {
		return err
	}
	return pins.PutPin(ctx, p)
}
