package store

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// commitTimeout bounds the duration of a commit.
const commitTimeout = 20 * time.Second

// committer commits steps to the database. The steps come from [Durable], [Retention] and
// [presence]. It owns the queue; the queue's commit lock also guards the fields uncertain and
// context.
type committer struct {
	database backend.Backend
	recorder *audit.Recorder // receives a copy of the committed records
	clock    *Clock
	log      *slog.Logger
	now      func() time.Time
	settle   func(admittedCall) // records a failure for an admitted call that was never sent

	queue     queue
	staging   atomic.Int32          // number of goroutines in withSession, which might soon queue steps
	lastFault atomic.Pointer[error] // error of the last failed access, or nil if the database works
	uncertain uncertainCalls
	context   commitContext
	unsent    unsentCalls
}

// unflushedSteps holds the committed steps of a batch that still need a flush to disk.
type unflushedSteps []*queuedStep

// flush flushes the batch to disk and ends its steps. It runs without the commit lock, so that the
// next batch can be committed concurrently.
func (all unflushedSteps) flush() {
	if len(all) == 0 {
		return
	}
	err := all[0].op.Flush()
	if err != nil {
		err = all[0].committer.recordFault(err)
	}
	for _, s := range all {
		s.finishCommitted(cmp.Or(s.err, err))
	}
}

// commitNext commits and flushes the next batch, unless the given step has ended or is already
// committed. Finally, it records a failure as the outcome of each call that was refused although
// its admission was committed. The caller must hold the commit lock, which commitNext releases.
func (c *committer) commitNext(s *queuedStep) {
	defer func() {
		for _, call := range c.unsent.takeAll() {
			c.settle(call)
		}
	}()
	c.commitBatch(s).flush()
}

func (c *committer) commitBatch(s *queuedStep) unflushedSteps {
	defer c.queue.unlockCommit()
	if s.isDone() || s.unflushed.Load() {
		return nil
	}
	if c.staging.Load() > 0 {
		runtime.Gosched() // let other goroutines finish staging, so that their steps join the batch
	}
	c.queue.gather(s)
	return c.commit(c.queue.nextBatch())
}

// drain commits all steps in the queue.
func (c *committer) drain() {
	c.queue.commitLock <- struct{}{}
	defer c.queue.unlockCommit()
	for batch := c.queue.nextBatch(); len(batch) > 0; batch = c.queue.nextBatch() {
		c.commit(batch).flush()
	}
}

// commit commits the steps of a batch, except those that were decided on outdated data (see
// [splitDropped]). It returns the steps that still need a flush to disk. The caller must hold the
// commit lock.
func (c *committer) commit(batch []*queuedStep) unflushedSteps {
	valid, lost := splitDropped(batch)
	// Fail the other steps only after the commit, because their callers then decide again and must
	// see its result.
	defer func() {
		for _, s := range lost {
			err := cmp.Or(s.dropReason(), admission.ErrStale)
			s.fail(err, err)
		}
	}()
	if len(valid) == 0 {
		return nil
	}
	ops := list.Map(valid, func(s *queuedStep) *backend.Op { return &s.op })
	ctx := c.context.get()
	found, err := c.uncertain.resolve(ctx)
	if err == nil {
		c.unsent.add(found...)
		began := time.Now()
		err = c.database.Commit(ctx, ops)
		c.queue.noteCommit(ops, len(lost), time.Since(began))
	}
	switch {
	case err == nil:
		return c.finishBatch(valid)
	case errors.Is(err, backend.ErrUncertain):
		c.finishBatch(c.uncertain.finish(ctx, valid, c.recordFault(err)))
	default:
		_ = c.recordFault(err)
		for _, s := range valid {
			s.fail(err, err)
		}
	}
	return nil
}

// commitContext caches a context for commits, because creating a context takes longer than a short
// commit. It is not safe for concurrent use.
type commitContext struct {
	last context.Context //nolint:containedctx // kept for reuse
	made time.Time
	stop context.CancelFunc
}

// get returns a context whose deadline is 1 to 1.5 times [commitTimeout] away. A later call may
// cancel the context.
func (p *commitContext) get() context.Context {
	if now := time.Now(); p.last == nil || now.Sub(p.made) > commitTimeout/2 {
		p.cancel()
		p.made = now
		p.last, p.stop = context.WithTimeout(context.Background(), commitTimeout+commitTimeout/2)
	}
	return p.last
}

func (p *commitContext) cancel() {
	if p.last != nil {
		p.stop()
		p.last = nil
	}
}

// splitDropped splits a batch into the steps that can be committed and the steps that are lost. A
// step is lost if its decision used a cached database [row] that has been dropped as possibly
// outdated, or if the step depends on a lost step.
func splitDropped(batch []*queuedStep) (valid, lost []*queuedStep) {
	undone := map[*row]bool{}
	for i, s := range batch {
		if s.dropReason() == nil && !slices.ContainsFunc(s.rows, func(r *row) bool { return undone[r] }) {
			if lost != nil {
				valid = append(valid, s)
			}
			continue
		}
		if lost == nil {
			valid = slices.Clip(batch[:i])
		}
		lost = append(lost, s)
		for _, r := range s.rows[:len(s.op.Writes)] {
			undone[r] = true
		}
	}
	if lost == nil {
		return batch, nil
	}
	return valid, lost
}

// finishBatch ends the steps of a batch that the database has processed. It returns the
// steps that still need a flush; the caller must flush and end them. If the committed records
// cannot be copied to the recorder, the admitted calls are not sent, and their outcomes are
// recorded as failures.
func (c *committer) finishBatch(steps []*queuedStep) (all unflushedSteps) {
	unwritten := c.copyRecords(steps)
	for _, s := range steps {
		c.clock.observe(&s.op)
		if s.op.Err != nil {
			s.fail(admission.ErrStale, s.op.Err)
			continue
		}
		s.markCommitted()
		var callErr error
		if s.call != 0 {
			callErr = unwritten
		}
		if s.op.Flush == nil {
			s.finishCommitted(callErr)
			continue
		}
		s.err = callErr
		s.unflushed.Store(true)
		all = append(all, s)
	}
	return all
}

// copyRecords passes the records of the committed steps to the recorder, if it is active.
func (c *committer) copyRecords(steps []*queuedStep) error {
	if !c.recorder.Active() {
		return nil
	}
	var all []audit.Event
	for _, s := range steps {
		if s.op.Err == nil {
			all = append(all, s.events...)
		}
	}
	if len(all) == 0 {
		return nil
	}
	err := c.recorder.Write(all...)
	if err != nil {
		c.log.Error("records are stored only in the database", "records", len(all), "error", err)
	}
	return err
}

// finishCommitted ends a committed step with the given result. If the result is an error, the
// step's call must not be sent, and its outcome is later recorded as a failure.
func (s *queuedStep) finishCommitted(result error) {
	if result != nil && s.call != 0 {
		s.committer.unsent.add(admittedCall{session: s.session, call: s.call})
	}
	s.finish(result)
}

// recordFault remembers err, the error of a failed database access, so that checkReady checks the
// database. It returns err.
func (c *committer) recordFault(err error) error {
	c.lastFault.Store(&err)
	return err
}

func (c *committer) newQueued(k admission.Key) *queuedStep {
	return &queuedStep{committer: c, session: k, done: make(chan struct{}), op: backend.Op{Session: k.Session, Time: c.now()}}
}

// enqueue appends s to the queue. It also makes s the last step of each row that s writes or
// checks. Goroutines that read the row can then wait until s is committed.
func (c *committer) enqueue(s *queuedStep) *queuedStep {
	for i := range s.op.Writes {
		s.rows[i].last = s
	}
	c.queue.add(s)
	return s
}

// write queues a step that writes data to the part of the state in row r, or removes the part if
// data is nil. The step fails with [admission.ErrStale] if another process has changed the part.
func (c *committer) write(r *row, data []byte) *queuedStep {
	s := c.newQueued(admission.Key{})
	s.addWrite(r, backend.Write{ID: r.id, Version: r.version, Data: data})
	return c.enqueue(s)
}

// close waits for the current commit to end and releases the context.
func (c *committer) close() {
	c.queue.commitLock <- struct{}{}
	defer c.queue.unlockCommit()
	c.context.cancel()
}

// checkReady returns nil if commits are expected to work, or an error that explains why they are not.
func (c *committer) checkReady() error {
	if c.lastFault.Load() != nil {
		if err := c.database.Ready(context.Background()); err != nil {
			return err
		}
		c.lastFault.Store(nil)
	}
	return c.recorder.Ready()
}
