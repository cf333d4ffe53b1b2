package store

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// commitTimeout bounds the duration of a commit.
const commitTimeout = 20 * time.Second

// unflushed holds committed steps of one batch that still need a flush to disk.
type unflushed []*queued

// flush flushes the batch to disk and ends its steps. It does not need the commit lock, so other
// batches can be committed meanwhile.
func (all unflushed) flush() {
	if len(all) == 0 {
		return
	}
	err := all[0].op.Flush()
	if err != nil {
		err = all[0].ledger.recordFault(err)
	}
	for _, s := range all {
		s.finishCommitted(cmp.Or(s.err, err))
	}
}

// commitNext commits the next batch unless s is already committed, and flushes it. The caller holds
// the commit lock; commitNext releases it.
func (s *queued) commitNext() {
	defer s.ledger.settleUnsent()
	s.commitBatch().flush()
}

func (s *queued) commitBatch() unflushed {
	d := s.ledger
	defer d.queue.unlockCommit()
	if s.isDone() || s.unflushed.Load() {
		return nil
	}
	if d.staging.Load() > 0 {
		runtime.Gosched() // let steps that are being staged join the batch
	}
	d.queue.gather(s)
	return d.commit(d.queue.nextBatch())
}

// drain commits all steps in the queue.
func (d *Durable) drain() {
	d.queue.commitLock <- struct{}{}
	defer d.queue.unlockCommit()
	for batch := d.queue.nextBatch(); len(batch) > 0; batch = d.queue.nextBatch() {
		d.commit(batch).flush()
	}
}

// commit commits a batch and returns the steps that still need a flush. Steps with a dropped row
// are not committed. The caller must hold the commit lock.
func (d *Durable) commit(batch []*queued) unflushed {
	valid, lost := splitDropped(batch)
	// Lost steps fail after the commit: a caller that reads again then sees the result of this
	// commit.
	defer func() {
		for _, s := range lost {
			err := cmp.Or(s.dropReason(), admission.ErrStale)
			s.fail(err, err)
		}
	}()
	if len(valid) == 0 {
		return nil
	}
	ops := make([]*backend.Op, len(valid))
	for i, s := range valid {
		ops[i] = &s.op
	}
	ctx := d.commitContext.current()
	err := d.resolveUncertain(ctx)
	if err == nil {
		began := time.Now()
		err = d.database.Commit(ctx, ops)
		d.queue.noteCommit(ops, len(lost), time.Since(began))
	}
	switch {
	case err == nil:
		return d.finishBatch(valid)
	case errors.Is(err, backend.ErrUncertain):
		d.finishUncertain(ctx, valid, d.recordFault(err))
	default:
		_ = d.recordFault(err)
		for _, s := range valid {
			s.fail(err, err)
		}
	}
	return nil
}

// commitContext caches a context for commits. A new context for each commit would cost more than a
// short commit does. Only one goroutine may use it at a time.
type commitContext struct {
	last context.Context //nolint:containedctx // to be used again
	made time.Time
	stop context.CancelFunc
}

// current returns a context that ends after between 1 and 1.5 times [commitTimeout]. A later call
// may cancel it and return a new one.
func (p *commitContext) current() context.Context {
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

// splitDropped splits a batch into the steps that can be committed and the lost ones. A step is
// lost if one of its rows was dropped, or if it depends on a lost step.
func splitDropped(batch []*queued) (valid, lost []*queued) {
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

// finishBatch ends the steps of a commit with the results of the database, and returns the
// committed steps that still need a flush. If the recorder cannot write the records, the admitted
// calls are not sent, and are settled as failures.
func (d *Durable) finishBatch(steps []*queued) (all unflushed) {
	unwritten := d.copyRecords(steps)
	for _, s := range steps {
		d.Clock.observe(&s.op)
		if s.op.Err != nil {
			s.reject(s.op.Err)
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

// copyRecords also writes the records of the committed steps to the recorder.
func (d *Durable) copyRecords(steps []*queued) error {
	if !d.recorder.Active() {
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
	err := d.recorder.Write(all...)
	if err != nil {
		d.log.Error("records are stored only in the database", "records", len(all), "error", err)
	}
	return err
}

// reject ends a step that the database refused with err.
func (s *queued) reject(err error) {
	switch {
	case errors.Is(err, backend.ErrStale):
		s.fail(admission.ErrStale, admission.ErrStale)
	case errors.Is(err, backend.ErrUsed):
		s.fail(admission.ErrStale, approval.ErrUsed)
	case errors.Is(err, backend.ErrStopped):
		s.fail(admission.ErrStale, admission.ErrStopped)
	default:
		s.fail(admission.ErrStale, err)
	}
}
