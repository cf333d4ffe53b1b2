package journal

import (
	"errors"
	"path/filepath"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/sqlite"
)

// foldAll folds what waits until the backend is closed: once a second, and before that if there are
// many steps.
func (b *Backend) foldAll() {
	defer close(b.ended)
	var due <-chan time.Time
	said := ""
	for {
		select {
		case <-b.stop:
			return
		case <-b.kick:
			b.hold()
			many := b.image.bytes >= foldBytes
			b.release()
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
			said = ""
		case err.Error() != said:
			said = err.Error()
			b.logger.Warn("the log of the state cannot be folded into its database; it is tried again", "error", err)
			fallthrough
		default:
			due = time.After(foldAgain)
		}
	}
}

// fold brings the checkpoint to where the image is.
func (b *Backend) fold() error {
	b.beginFold()
	defer b.endFold()
	err := b.foldNow(true)
	b.hold()
	defer b.release()
	if b.unfolded = err; err != nil && !sqlite.Locked(err) {
		b.fault = err
	}
	return err
}

// foldAnew tries again to fold the log where that has failed, but not where another program has the database
// locked: without its database nothing is reserved. It needs the turn.
func (b *Backend) foldAnew() error {
	b.hold()
	failed := b.unfolded
	b.release()
	if failed == nil || sqlite.Locked(failed) {
		return nil
	}
	if failed = b.fold(); sqlite.Locked(failed) {
		return nil
	}
	return failed
}

// foldNow flushes the log, and then folds it. It needs folding.
func (b *Backend) foldNow(flush bool) error {
	b.hold()
	f, d, n := b.image.fold(), b.log.flushing, b.image.bytes
	f.To.ID = b.log.database
	idle := f.To.Step == b.image.folded
	flush = flush && !idle && d != nil
	if flush {
		d.enter()
	}
	b.release()
	if idle {
		return nil
	}
	if flush {
		err := b.bring(d, f.To.Step)
		if d.leave(); err != nil {
			return err
		}
	}
	at, err := b.checkpoint.Fold(f)
	if err != nil {
		return err
	}
	b.hold()
	if b.image.folded >= f.From { // else it was loaded anew meanwhile
		if at.Step > f.To.Step {
			n = b.image.bytes // though some of them may not be folded yet
		}
		b.image.forget(min(at.Step, b.image.at.step), n)
	}
	b.release()
	if at.Step == f.To.Step {
		b.witness(position{step: at.Step, hash: at.Hash})
	}
	return b.archive.seal(at.Step)
}

// roll begins the next segment where this one is full. It needs the turn. A failure
// does not refuse anything.
func (b *Backend) roll() {
	b.hold()
	defer b.release()
	at := b.image.at.offset
	if at < max(b.segment, b.retry) {
		return
	}
	if err := b.putAside(false); err != nil {
		b.retry = at + b.segment/8
		b.logger.Warn("the log of the state cannot be put aside, and grows on", "error", err)
	}
}

// putAside renames the segment and begins the next one. Steps that are not folded must be on
// the disk, because the steps of the next segment depend on them. It needs the turn and mu.
func (b *Backend) putAside(folded bool) error {
	l, at := &b.log, &b.image.at
	l.fill(at.offset)
	if err := l.flushing.bring(at.step, func() uint64 { return at.step }); err != nil && !folded {
		return err
	}
	if err := l.write(l.path+nextSuffix, at); err != nil {
		return err
	}
	dir := filepath.Dir(l.path) // the disk need not take the names in their order
	if err := l.disk.syncDir(dir); err != nil {
		return err
	}
	aside := l.aside(l.header.segment) + fullSuffix
	if err := l.disk.rename(l.name(), aside); err != nil {
		return err
	}
	err := l.disk.syncDir(dir)
	if err == nil {
		err = l.install()
	}
	if err != nil {
		return errors.Join(err, l.disk.rename(aside, l.name()))
	}
	b.retry = 0
	return b.goOver()
}
