package journal

import (
	"context"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// SetStop implements [backend.Backend]. It appends the stop as a separate step, after the steps of
// all calls that were admitted earlier.
func (b *Backend) SetStop(ctx context.Context, stop backend.Stop, on bool, events ...backend.Event) error {
	b.lockAppend()
	defer b.unlockAppend()
	if err := b.setStop(ctx, stop, on, events); err != nil {
		return fmt.Errorf("writing to the state: %w", err)
	}
	return nil
}

func (b *Backend) setStop(ctx context.Context, stop backend.Stop, on bool, events []backend.Event) error {
	if err := b.beginAppend(ctx); err != nil {
		return err
	}
	if stop.Time.IsZero() {
		stop.Time = b.now()
	}
	w := b.newBatch()
	if err := w.appendStopStep(&stop, on, events); err != nil {
		return err
	}
	w.lockImage()
	d, step := w.log.flusher, w.image.at.step
	w.unlockImage()
	if err := b.ensureFlushed(d, step); err != nil {
		return err // the stop has taken effect, but a power loss may undo it
	}
	if err := b.fold(); err != nil { // make the stop visible to other processes now; it is already in the log
		wake(b.kick)
	}
	return nil
}

func (w *batch) appendStopStep(stop *backend.Stop, on bool, events []backend.Event) error {
	w.lockImage()
	defer w.unlockImage()
	w.at, w.chain = w.image.at, w.Backend.chain
	s := step{number: w.at.step + 1, stop: stop, on: on}
	w.addRecords(&s, events)
	lines, err := appendStep(nil, &s, w.at.hash)
	if err != nil {
		return err
	}
	w.log.end = w.image.at.offset
	if n, err := w.log.append(lines, []int{len(lines)}); err != nil {
		w.lastErr = err
		w.process.setStale()
		w.noteNoSpace(len(lines) - n)
		return err
	}
	w.advance(&s, position{s.number, s.hash, w.image.at.segment, w.image.at.offset + int64(len(lines))})
	return nil
}

// PutApproval implements [backend.Backend]. It writes the approval to the checkpoint. If the log
// contains uses of approvals that the checkpoint lacks, PutApproval folds the log first.
func (b *Backend) PutApproval(ctx context.Context, a backend.Approval) (version int64, err error) {
	b.lockAppend()
	defer b.unlockAppend()
	if err := b.beginAppend(ctx); err != nil {
		return 0, fmt.Errorf("writing an approval to the state: %w", err)
	}
	b.lockImage()
	pending := len(b.image.used) > 0
	b.unlockImage()
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

// DropApprovals implements [backend.Backend].
func (b *Backend) DropApprovals(_ context.Context, before time.Time) error {
	return b.checkpoint.DropApprovals(before)
}
