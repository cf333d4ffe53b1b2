package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// lockProcess acquires the process lock and brings the image to the end of the log. The caller must
// hold the appending lock.
func (b *Backend) lockProcess(ctx context.Context) error {
	if b.process.unlockFiles == nil {
		if err := b.process.lock(ctx); err != nil {
			b.lockImage()
			defer b.unlockImage()
			b.lastErr = err
			return err
		}
		b.timer.Reset(lease)
	}
	b.process.idle = false
	b.lockImage()
	defer b.unlockImage()
	err := errClosed
	if !b.closed {
		err = b.verifyEnd()
	}
	if err != nil {
		b.process.unlock()
		b.lastErr = err
	}
	return err
}

// verifyEnd brings the image to the end of the log. No other process appends while this one holds
// the process lock, so it only checks from time to time whether the file was removed, replaced or
// truncated. The caller must hold the process lock and mu.
func (b *Backend) verifyEnd() error {
	now := time.Now()
	if since := now.Sub(b.process.verified); since >= 0 && since < lease {
		return nil
	}
	if b.log.file != nil && !b.process.verified.IsZero() {
		named, err := b.log.hasName()
		size, _, more := b.log.file.state()
		if err == nil && more == nil && named && size == b.log.size {
			if b.log.isEnd(&b.image.at) {
				b.process.setCurrent(now)
				return nil
			}
		}
	}
	return b.readToEnd()
}

// readToEnd reads the log to its end and cuts off the rest. The caller must hold the process lock
// and mu.
func (b *Backend) readToEnd() error {
	err := b.follow(true)
	if err == nil {
		b.log.scanned = true
		b.process.setCurrent(time.Now())
	} else {
		b.process.setStale()
	}
	return err
}

// follow reads the log to its end. If lead is true, this process holds the process lock: then the
// end is certain, and what follows the last step is cut off. The caller must hold mu.
func (b *Backend) follow(lead bool) error {
	for range 1000 {
		if b.log.file == nil {
			if err := b.openPosition(); err != nil {
				return err
			}
			if b.log.file == nil {
				continue
			}
		}
		named, err := b.log.hasName()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		junk, broken := b.readSteps() // after hasName: if another file has the name, this one gets no more steps
		switch {
		case err == nil && !named && b.reopen():
			continue
		case broken != nil:
			return broken
		case named && (junk == 0 || !lead):
			return nil
		case named:
			return b.cut(junk)
		case junk > 0:
			return fmt.Errorf("%w: the log segment that begins after step %d is damaged after step %d; restore a good copy", backend.ErrRolledBack, b.image.at.segment, b.image.at.step)
		}
		if err != nil && !lead { // another process is about to name the next segment
			if !b.log.exists(b.log.segmentName(b.image.at.step) + fullSuffix) {
				return nil
			}
		} else if err != nil {
			if err := b.log.finishRotation(&b.image.at); err != nil {
				return err
			}
		}
		if err := b.openNext(); err != nil {
			return err
		}
	}
	return errors.New("the log is rotated again and again")
}

// readSize is the number of bytes read at a time, unless a step is longer.
const readSize = 1 << 20

// readSteps applies the steps after the position of the image. It returns the number of bytes
// behind them that are not a step.
func (b *Backend) readSteps() (junk int64, err error) {
	var data []byte
	for most, more := readSize, true; more; {
		begun := b.image.at.offset
		if data, more, err = b.log.readFrom(data, begun, most, !b.log.scanned); err != nil {
			return 0, err
		}
		if right, err := endsAt(b.log.file, &b.log.header, &b.image.at); err != nil || !right {
			return 0, errors.Join(err, fmt.Errorf("%w: step %d of the log has changed; restore the newer copy", backend.ErrRolledBack, b.image.at.step))
		}
		s := scan{at: b.image.at}
		for junk = int64(len(data)); junk > 0; junk = int64(len(data)) - (s.at.offset - begun) {
			st, ok, _ := s.next(data[s.at.offset-begun:])
			if !ok {
				break // the rest does not count, whatever it contains
			}
			b.advance(&st, s.at)
		}
		if s.at.offset == begun {
			most *= 4
		}
	}
	return junk, nil
}

// advance applies a step that ends at the given position to the image.
func (b *Backend) advance(s *step, at position) {
	before := b.image.bytes
	b.image.bytes += at.offset - b.image.at.offset
	b.image.apply(s)
	b.image.at = at
	if before == 0 || before < foldBytes && b.image.bytes >= foldBytes {
		wake(b.kick)
	}
	for i := range s.records {
		if r := &s.records[i]; r.Writer == b.name {
			b.chain = chainEnd{r.Seq, r.Hash}
		}
	}
}

// cut removes the bytes behind the last step: a process ended in the middle of a write, or the
// power failed before the step was on the disk.
func (b *Backend) cut(junk int64) error {
	b.log.end = b.image.at.offset
	if err := b.log.cut(); err != nil {
		return err
	}
	b.logger.Info("removed uncommitted bytes from the state log", "file", b.log.name(), "bytes", junk)
	return nil
}

// openPosition opens the segment that contains the position of the image, or the next segment if
// the image is at the end of one, which may already be sealed. If another process has sealed the
// segment meanwhile, it opens no file and loads the checkpoint again.
func (b *Backend) openPosition() error {
	at := &b.image.at
	unnamed := b.log.open() // a process ended during a rotation
	if unnamed != nil && !errors.Is(unnamed, fs.ErrNotExist) {
		return unnamed
	}
	if h := &b.log.header; unnamed == nil && h.step == at.step && h.hash == at.hash { // the rotation was just after the step
		at.segment, at.offset = h.segment, h.offset
		return nil
	}
	if unnamed != nil || b.log.header.segment > at.segment {
		f, header, err := b.log.openSegment(b.log.segmentName(at.segment)+fullSuffix, os.O_RDWR)
		if errors.Is(err, fs.ErrNotExist) {
			f, header, err = b.log.openSegment(b.log.segmentName(at.step)+fullSuffix, os.O_RDWR)
		}
		if errors.Is(err, fs.ErrNotExist) && unnamed == nil {
			return b.reload()
		}
		if err != nil {
			b.log.close()
			return err
		}
		b.log.use(f, header)
	}
	if b.log.header.step == at.step {
		at.segment, at.offset = b.log.header.segment, b.log.header.offset
	}
	if b.log.header.segment < at.segment {
		b.log.close()
		return fmt.Errorf("%w: its log begins after step %d, not after step %d; %s", backend.ErrRolledBack, b.log.header.segment, at.segment, b.log.remedy())
	}
	right, err := endsAt(b.log.file, &b.log.header, at)
	if err != nil || !right {
		b.log.close()
		return errors.Join(err, fmt.Errorf("%w: step %d of its log has changed; %s", backend.ErrRolledBack, at.step, b.log.remedy()))
	}
	at.offset = max(at.offset, b.log.header.offset)
	return nil
}

// remedy returns advice about a log that is damaged or older than its database.
func (l *directory) remedy() string {
	return fmt.Sprintf("restore the newer copy or, to continue from the checkpoint, end all petrigate processes that use it and remove %q and %q", l.name(), l.path+endSuffix)
}

// reopen switches to a file that has replaced the segment under its name, for example a copy, if
// that file has all steps that the image has read. It reports whether it did.
func (b *Backend) reopen() bool {
	f, header, err := b.log.openSegment(b.log.name(), os.O_RDWR)
	if err != nil {
		return false // openNext reports the error
	}
	at := &b.image.at
	if header.segment == at.segment && at.offset > header.offset {
		if right, err := endsAt(f, &header, at); err == nil && right {
			b.log.use(f, header)
			return true
		}
	}
	_ = f.Close()
	return false
}

// openNext switches to the segment after the current one, which was renamed. The next segment may
// be a renamed one or the log itself. The log has no name if a process ended during a rotation.
func (b *Backend) openNext() error {
	at := &b.image.at
	f, header, err := b.log.openSegment(b.log.name(), os.O_RDWR)
	unnamed := errors.Is(err, fs.ErrNotExist)
	if err != nil && !unnamed {
		return err
	}
	if unnamed || header.step > at.step {
		if !unnamed {
			_ = f.Close()
		}
		f, header, err = b.log.openSegment(b.log.segmentName(at.step)+fullSuffix, os.O_RDWR)
		if errors.Is(err, fs.ErrNotExist) { // folded and sealed meanwhile
			return b.reload()
		}
		if err != nil {
			return err
		}
	}
	if header.step != at.step || header.hash != at.hash {
		_ = f.Close()
		return fmt.Errorf("%w: another log has replaced its log; restore the newer copy", backend.ErrRolledBack)
	}
	b.log.use(f, header)
	at.segment, at.offset = header.segment, header.offset
	return nil
}

// reload loads the checkpoint again. The checkpoint must be ahead of the image, since a segment was
// sealed.
func (b *Backend) reload() error {
	before, chain := b.image, b.chain
	err := b.load()
	if err == nil && b.image.at.step <= before.at.step {
		err = fmt.Errorf("%w: its checkpoint is at step %d, and the log has no steps after step %d; restore the newer copies of the database and its log",
			backend.ErrRolledBack, b.image.at.step, before.at.step)
	}
	if err != nil {
		b.log.close()
		b.image, b.chain = before, chain
	}
	return err
}

// finishRotation names the next segment if a process ended before it could. The image may still
// have to read earlier renamed segments.
func (l *directory) finishRotation(at *position) error {
	f, header, err := l.openSegment(l.path+nextSuffix, os.O_RDONLY)
	if err != nil {
		return fmt.Errorf("the log %q was removed while it was in use; restore it, or end all petrigate processes that use it and start again", l.name())
	}
	_ = f.Close()
	if header.step > at.step {
		return nil
	}
	if header.step != at.step || header.hash != at.hash {
		return fmt.Errorf("%w: its log %q is missing; restore it", backend.ErrRolledBack, l.name())
	}
	return l.installNext()
}

// recover opens the log, reads it to its end, and cuts off the bytes behind the last step. The
// caller must hold the process lock and mu.
func (b *Backend) recover() error {
	if err := b.ensureLog(); err != nil {
		return err
	}
	want, err := b.log.readDurableEnd()
	if err != nil {
		return err
	}
	if err := b.follow(false); err != nil {
		return err
	}
	if at := &b.image.at; at.step < want.step || at.step == want.step && at.hash != want.hash {
		return fmt.Errorf("%w: its log ends with step %d, but had step %d; restore the newer copy or, to continue without the lost steps, end all petrigate processes that use it and remove %q",
			backend.ErrRolledBack, at.step, want.step, b.log.path+endSuffix)
	}
	return b.readToEnd()
}

// ensureLog makes sure that a log exists. A database without a log is new, or was restored alone;
// in the latter case the operator has removed the file of the durable end as well.
func (b *Backend) ensureLog() error {
	if _, err := b.log.disk.stat(b.log.name()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if f, header, err := b.log.openSegment(b.log.path+nextSuffix, os.O_RDONLY); err == nil { // a process ended in rotate
		_ = f.Close()
		if header.step > b.image.at.step || b.image.at.offset > 0 {
			return b.log.installNext()
		}
	}
	switch _, err := b.log.disk.stat(b.log.path + endSuffix); {
	case errors.Is(err, fs.ErrNotExist):
		return b.log.create(&b.image.at)
	case err != nil:
		return err
	}
	return fmt.Errorf("%w: its log %q is missing; restore it or, to continue from the checkpoint, end all petrigate processes that use it and remove %q",
		backend.ErrRolledBack, b.log.name(), b.log.path+endSuffix)
}

// wake wakes the goroutine that folds.
func wake(kick chan<- struct{}) {
	select {
	case kick <- struct{}{}:
	default:
	}
}
