package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"syscall"
)

// spare is how many bytes there must be room for besides those that could not be written: the outcome
// of a call has to fit as well.
const spare = 64 << 10

// Ready reports why nothing can be committed now. After a failure it tries to: a disk may have room for
// less than a decision, so there must be room for as much as could not be written.
func (b *Backend) Ready(ctx context.Context) error {
	b.hold()
	fault, lacking, closed := b.fault, b.lacking, b.closed
	backlog := b.image.bytes >= mostBacklog
	b.release()
	if fault == nil && lacking == 0 && !closed && !backlog {
		if _, err := b.log.disk.stat(b.log.name()); err == nil {
			return nil
		}
	}
	if err := b.tries(ctx, lacking); err != nil {
		return fmt.Errorf("the state cannot be written: %w", err)
	}
	return nil
}

func (b *Backend) tries(ctx context.Context, lacking int) error {
	b.begin()
	defer b.end()
	err := b.lead(ctx)
	if err == nil {
		err = b.repair()
	}
	if err == nil && lacking > 0 {
		b.hold()
		err = b.tryRoom(lacking + spare)
		b.release()
	}
	if err == nil {
		err = b.fold()
	}
	if err == nil {
		err = b.checkpoint.Try(lacking)
	}
	b.hold()
	defer b.release()
	if b.fault = err; err == nil && b.lacking <= lacking {
		b.lacking = 0
	}
	return err
}

// lacked notes that there was no room for n bytes. It needs mu.
func (w *batch) lacked(n int) { w.lacking = max(w.lacking, n) }

// tryRoom writes n bytes behind the last step, and cuts them off. It fails only where there is no room. It
// needs the turn and mu.
func (b *Backend) tryRoom(n int) error {
	b.log.end = b.image.at.offset
	_, err := b.log.file.WriteAt(bytes.Repeat([]byte{' '}, n), b.log.end)
	if cut := b.log.cut(); cut != nil {
		b.turns.lost() // the next process with the turn cuts it off
		return cut
	}
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		if errors.Is(err, full) {
			return err
		}
	}
	return nil
}
