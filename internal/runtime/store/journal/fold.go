package journal

import (
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/sqlite"
)

// foldLoop folds the log, which brings the checkpoint up to date. It does so one second after the
// first step since the last fold, or earlier if there are many steps. foldLoop returns when the
// backend is closed.
func (b *Backend) foldLoop() {
	defer close(b.ended)
	var due <-chan time.Time
	lastErr := ""
	for {
		select {
		case <-b.stop:
			return
		case <-b.kick:
			b.lockImage()
			many := b.image.bytes >= foldBytes
			b.unlockImage()
			if due == nil && !many {
				due = time.After(foldAfter)
			}
			if !many {
				continue
			}
		case <-due:
		}
		due = nil
		switch err := b.fold(); {
		case err == nil:
			lastErr = ""
		case err.Error() != lastErr:
			lastErr = err.Error()
			b.logger.Warn("cannot fold the state log into its checkpoint; retrying", "error", err)
			fallthrough
		default:
			due = time.After(foldRetry)
		}
	}
}

// fold brings the checkpoint up to date with the log. It first flushes the log to disk.
func (b *Backend) fold() error {
	b.lockFold()
	defer b.unlockFold()
	err := b.foldNow(true)
	b.lockImage()
	defer b.unlockImage()
	if b.lastFoldErr = err; err != nil && !sqlite.Locked(err) {
		b.lastErr = err
	}
	return err
}

// retryFold folds the log again if the last attempt failed. If it fails again, retryFold returns an
// error, and the caller must refuse calls. If another program has locked the database, retryFold
// returns nil. The caller must hold the process lock.
func (b *Backend) retryFold() error {
	b.lockImage()
	failed := b.lastFoldErr
	b.unlockImage()
	if failed == nil || sqlite.Locked(failed) {
		return nil
	}
	if failed = b.fold(); sqlite.Locked(failed) {
		return nil
	}
	return failed
}

// foldNow folds the log, and flushes it first if flush is true. The caller must hold the folding
// lock.
func (b *Backend) foldNow(flush bool) error {
	b.lockImage()
	f, d, n := b.image.pendingFold(), b.log.flusher, b.image.bytes
	f.To.ID = b.log.database
	idle := f.To.Step == b.image.folded
	flush = flush && !idle && d != nil
	if flush {
		d.retain()
	}
	b.unlockImage()
	if idle {
		return nil
	}
	if flush {
		err := b.ensureFlushed(d, f.To.Step)
		if d.release(); err != nil {
			return err
		}
	}
	at, err := b.checkpoint.Fold(f)
	if err != nil {
		return err
	}
	b.lockImage()
	if b.image.folded >= f.From { // this is false only if the image was reloaded from an older checkpoint during the fold
		if at.Step > f.To.Step {
			n = b.image.bytes // another process has folded more steps; their size is unknown, so count all lines as folded
		}
		b.image.dropFolded(min(at.Step, b.image.at.step), n)
	}
	b.unlockImage()
	if at.Step == f.To.Step {
		b.writeDurableEnd(position{step: at.Step, hash: at.Hash})
	}
	return b.archive.seal(at.Step)
}

// rotateIfFull begins the next segment if the current one is full. It logs errors instead of
// returning them. The caller must hold the process lock.
func (b *Backend) rotateIfFull() {
	b.lockImage()
	defer b.unlockImage()
	at := b.image.at.offset
	if at < max(b.segment, b.retrySize) {
		return
	}
	if err := b.rotate(false); err != nil {
		b.retrySize = at + b.segment/8
		b.logger.Warn("cannot rotate the state log; it keeps growing", "error", err)
	}
}

// ensureFlushed waits until the step is on disk, flushing the log if necessary. If it returns an
// error, a power loss may undo the step and the later steps of its segment.
func (b *Backend) ensureFlushed(d *flusher, step uint64) error {
	err := d.flushTo(step, func() uint64 {
		b.lockImage()
		defer b.unlockImage()
		return b.image.at.step
	})
	if err != nil {
		b.lockImage()
		defer b.unlockImage()
		b.lastErr = err
	}
	return err
}
