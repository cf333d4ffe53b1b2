package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"syscall"
)

// spareSpace is the number of free bytes reserved for recording the outcomes of calls. After the
// disk was full, [Backend.Ready] requires this space in addition to the space for the write that
// failed.
const spareSpace = 64 << 10

// Ready implements [backend.Backend]. After a failure, it makes test writes to check whether the
// log and the checkpoint are writable again. If the disk was full, Ready returns an error until the
// disk has room for the write that failed and for [spareSpace] more bytes.
func (b *Backend) Ready(ctx context.Context) error {
	b.lockImage()
	fault, lacking, closed := b.lastErr, b.spaceNeeded, b.closed
	backlog := b.image.bytes >= maxBacklog
	b.unlockImage()
	if fault == nil && lacking == 0 && !closed && !backlog {
		if _, err := b.log.disk.stat(b.log.name()); err == nil {
			return nil
		}
	}
	if err := b.tryCommit(ctx, lacking); err != nil {
		return fmt.Errorf("cannot write the state: %w", err)
	}
	return nil
}

func (b *Backend) tryCommit(ctx context.Context, lacking int) error {
	b.lockAppend()
	defer b.unlockAppend()
	err := b.beginAppend(ctx)
	if err == nil && lacking > 0 {
		b.lockImage()
		err = b.trySpace(lacking + spareSpace)
		b.unlockImage()
	}
	if err == nil {
		err = b.fold()
	}
	if err == nil {
		err = b.checkpoint.Try(lacking)
	}
	b.lockImage()
	defer b.unlockImage()
	if b.lastErr = err; err == nil && b.spaceNeeded <= lacking {
		b.spaceNeeded = 0
	}
	return err
}

// trySpace checks whether the disk has room for n bytes after the last step. It ignores all write
// errors that have another cause. The caller must hold the process lock and mu.
func (b *Backend) trySpace(n int) error {
	b.log.end = b.image.at.offset
	_, err := b.log.file.WriteAt(bytes.Repeat([]byte{' '}, n), b.log.end)
	if cut := b.log.cut(); cut != nil {
		b.process.setStale() // some of the spaces may remain in the file as padding, so the end of the log must be read again
		return cut
	}
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		if errors.Is(err, full) {
			return err
		}
	}
	return nil
}
