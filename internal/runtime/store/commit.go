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

// patience bounds how long a commit may take.
const patience = 20 * time.Second

// unflushed are steps of one commit that have still to be brought to the disk.
type unflushed []*queued

// flush ends the steps once they are on the disk. It does not need the lead of the queue: others are
// committed meanwhile.
func (all unflushed) flush() {
	if len(all) == 0 {
		return
	}
	err := all[0].op.Flush()
	if err != nil {
		err = all[0].ledger.fault(err)
	}
	for _, s := range all {
		s.endCommitted(cmp.Or(s.err, err))
	}
}

// commitNext commits all waiting steps, unless s is already committed. The caller has the lead of the queue;
// commitNext gives it up.
func (s *queued) commitNext() {
	defer s.ledger.settleUnsent()
	s.commitFirst().flush()
}

func (s *queued) commitFirst() unflushed {
	d := s.ledger
	defer d.queue.rest()
	if s.over() || s.unflushed.Load() {
		return nil
	}
	if d.staging.Load() > 0 {
		runtime.Gosched() // steps that are being made still join the batch
	}
	d.queue.gather(s)
	return d.commit(d.queue.take())
}

// drain commits all that waits.
func (d *Durable) drain() {
	d.queue.lead <- struct{}{}
	defer d.queue.rest()
	for batch := d.queue.take(); len(batch) > 0; batch = d.queue.take() {
		d.commit(batch).flush()
	}
}

// commit commits a batch, as far as nothing before it has failed, and returns the steps that have still to be
// brought to the disk. It needs the lead of the queue.
func (d *Durable) commit(batch []*queued) unflushed {
	sound, lost := sift(batch)
	// What is lost is undone after the commit: who reads again sees what is committed now.
	defer func() {
		for _, s := range lost {
			err := cmp.Or(s.faulty(), admission.ErrStale)
			s.fail(err, err)
		}
	}()
	if len(sound) == 0 {
		return nil
	}
	ops := make([]*backend.Op, len(sound))
	for i, s := range sound {
		ops[i] = &s.op
	}
	ctx := d.allowance.context()
	err := d.resolve(ctx)
	if err == nil {
		began := time.Now()
		err = d.database.Commit(ctx, ops)
		d.queue.committed(ops, len(lost), time.Since(began))
	}
	switch {
	case err == nil:
		return d.conclude(sound)
	case errors.Is(err, backend.ErrUncertain):
		d.doubt(ctx, sound, d.fault(err))
	default:
		_ = d.fault(err)
		for _, s := range sound {
			s.fail(err, err)
		}
	}
	return nil
}

// An allowance makes contexts of commits. A commit does not make one of its own: that would cost more than
// a short commit does. It is used by one goroutine at a time.
type allowance struct {
	last context.Context //nolint:containedctx // to be used again
	made time.Time
	stop context.CancelFunc
}

// context is one that ends in between [patience] and one and a half of it. It takes the place of the one
// before.
func (p *allowance) context() context.Context {
	if now := time.Now(); p.last == nil || now.Sub(p.made) > patience/2 {
		p.end()
		p.made = now
		p.last, p.stop = context.WithTimeout(context.Background(), patience+patience/2)
	}
	return p.last
}

func (p *allowance) end() {
	if p.last != nil {
		p.stop()
		p.last = nil
	}
}

// sift takes out of a batch the steps that were made on what is not so, and those that
// were made on what such a step has left.
func sift(batch []*queued) (sound, lost []*queued) {
	undone := map[*row]bool{}
	for i, s := range batch {
		if s.faulty() == nil && !slices.ContainsFunc(s.rows, func(r *row) bool { return undone[r] }) {
			if lost != nil {
				sound = append(sound, s)
			}
			continue
		}
		if lost == nil {
			sound = slices.Clip(batch[:i])
		}
		lost = append(lost, s)
		for _, r := range s.rows[:len(s.op.Writes)] {
			undone[r] = true
		}
	}
	if lost == nil {
		return batch, nil
	}
	return sound, lost
}

// conclude ends the steps of a commit with the result of the database. It returns the steps that need a
// flush first. Calls with records that could not be written to the file are not sent, but settled.
func (d *Durable) conclude(steps []*queued) (all unflushed) {
	unwritten := d.copy(steps)
	for _, s := range steps {
		d.Clock.hear(&s.op)
		if s.op.Err != nil {
			s.refuse(s.op.Err)
			continue
		}
		s.commit()
		var told error
		if s.call != 0 {
			told = unwritten
		}
		if s.op.Flush == nil {
			s.endCommitted(told)
			continue
		}
		s.err = told
		s.unflushed.Store(true)
		all = append(all, s)
	}
	return all
}

// copy writes the records of what was committed to the recorder.
func (d *Durable) copy(steps []*queued) error {
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
		d.log.Error("records are in the database alone", "records", len(all), "error", err)
	}
	return err
}

// refuse ends a step of which the database says that it may not be.
func (s *queued) refuse(err error) {
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
