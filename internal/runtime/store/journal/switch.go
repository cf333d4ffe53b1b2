package journal

import (
	"context"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// SetStop uses the kill switch, or ends a stop: a step of its own, behind all that was admitted.
func (b *Backend) SetStop(ctx context.Context, stop backend.Stop, on bool, events ...backend.Event) error {
	b.begin()
	defer b.end()
	if err := b.setStop(ctx, stop, on, events); err != nil {
		return fmt.Errorf("writing to the state: %w", err)
	}
	return nil
}

func (b *Backend) setStop(ctx context.Context, stop backend.Stop, on bool, events []backend.Event) error {
	err := b.lead(ctx)
	if err == nil {
		err = b.repair()
	}
	if err != nil {
		return err
	}
	if stop.Time.IsZero() {
		stop.Time = b.now()
	}
	w := b.newBatch()
	if err := w.switches(&stop, on, events); err != nil {
		return err
	}
	w.hold()
	d, step := w.log.flushing, w.image.at.step
	w.release()
	if err := b.bring(d, step); err != nil {
		return err // it is in force as long as the machine runs
	}
	if err := b.fold(); err != nil { // so that other processes see it at once; the log has it already
		wake(b.kick)
	}
	return nil
}

// switches appends the step of a stop.
func (w *batch) switches(stop *backend.Stop, on bool, events []backend.Event) error {
	w.hold()
	defer w.release()
	w.at, w.chain = w.image.at, w.Backend.chain
	s := step{number: w.at.step + 1, stop: stop, on: on}
	w.enter(&s, events)
	lines, err := appendStep(nil, &s, w.at.hash)
	if err != nil {
		return err
	}
	w.log.end = w.image.at.offset
	if n, err := w.log.append(lines, []int{len(lines)}); err != nil {
		w.fault = err
		w.turns.lost()
		w.lacked(len(lines) - n)
		return err
	}
	w.moved(&s, position{s.number, s.hash, w.image.at.segment, w.image.at.offset + int64(len(lines))})
	return nil
}

// PutApproval writes an approval to the checkpoint, once that has the approvals which the log has used.
func (b *Backend) PutApproval(ctx context.Context, a backend.Approval) (version int64, err error) {
	b.begin()
	defer b.end()
	err = b.lead(ctx)
	if err == nil {
		err = b.repair()
	}
	if err != nil {
		return 0, fmt.Errorf("writing an approval to the state: %w", err)
	}
	b.hold()
	pending := len(b.image.used) > 0
	b.release()
	if pending {
		if err := b.fold(); err != nil {
			return 0, err
		}
	}
	if err := b.checkpoint.PutApproval(a, b.now()); err != nil {
		return 0, err
	}
	return a.Version + 1, nil
}

// DropApprovals forgets those that ended before.
func (b *Backend) DropApprovals(_ context.Context, before time.Time) error {
	return b.checkpoint.DropApprovals(before)
}
