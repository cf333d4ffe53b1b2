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

// lead gives this process the turn, with the image at the end of the log. It needs appending.
func (b *Backend) lead(ctx context.Context) error {
	if b.turns.held == nil {
		if err := b.turns.take(ctx); err != nil {
			b.hold()
			defer b.release()
			b.fault = err
			return err
		}
		b.timer.Reset(lease)
	}
	b.turns.quiet = false
	b.hold()
	defer b.release()
	err := errClosed
	if !b.closed {
		err = b.intact()
	}
	if err != nil {
		b.turns.give()
		b.fault = err
	}
	return err
}

// intact makes the image that of the end of the log. Since no other process appends as long as this one
// has the turn, it only looks from time to time whether somebody has removed, replaced or cut the file. It
// needs the turn and mu.
func (b *Backend) intact() error {
	now := time.Now()
	if since := now.Sub(b.turns.known); since >= 0 && since < lease {
		return nil
	}
	if b.log.file != nil && !b.turns.known.IsZero() {
		named, err := b.log.named()
		size, _, more := b.log.file.state()
		if err == nil && more == nil && named && size == b.log.size {
			if b.log.isEnd(&b.image.at) {
				b.turns.found(now)
				return nil
			}
		}
	}
	return b.toEnd()
}

// toEnd brings the image to the end of the log. It needs the turn and mu.
func (b *Backend) toEnd() error {
	err := b.follow(true)
	if err == nil {
		b.log.settled = true
		b.turns.found(time.Now())
	} else {
		b.turns.lost()
	}
	return err
}

// follow reads on to the end of the log. With the turn, lead, it is the end for certain, and what
// stands behind the last step is cut off. It needs mu.
func (b *Backend) follow(lead bool) error {
	for range 1000 {
		if b.log.file == nil {
			if err := b.locate(); err != nil {
				return err
			}
			if b.log.file == nil {
				continue
			}
		}
		named, err := b.log.named()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		junk, broken := b.read() // after the look at the name: nothing more comes if another has it
		switch {
		case err == nil && !named && b.swap():
			continue
		case broken != nil:
			return broken
		case named && (junk == 0 || !lead):
			return nil
		case named:
			return b.cut(junk)
		case junk > 0:
			return fmt.Errorf("%w: the segment of the log that begins after step %d is damaged behind step %d; put a good copy back", backend.ErrRolledBack, b.image.at.segment, b.image.at.step)
		}
		if err != nil && !lead { // no file has the name: another process is about to give it
			if !b.log.exists(b.log.aside(b.image.at.step) + fullSuffix) {
				return nil
			}
		} else if err != nil {
			if err := b.log.finish(&b.image.at); err != nil {
				return err
			}
		}
		if err := b.goOver(); err != nil {
			return err
		}
	}
	return errors.New("the log is put aside again and again")
}

// atOnce is how many bytes of the log are read at once, unless a step has more.
const atOnce = 1 << 20

// read applies the steps behind the position of the image, and returns how many bytes follow them
// in the file that are no step.
func (b *Backend) read() (junk int64, err error) {
	var data []byte
	for most, more := atOnce, true; more; {
		begun := b.image.at.offset
		if data, more, err = b.log.rest(data, begun, most, !b.log.settled); err != nil {
			return 0, err
		}
		if right, err := ends(b.log.file, &b.log.header, &b.image.at); err != nil || !right {
			return 0, errors.Join(err, fmt.Errorf("%w: the log does not have step %d as it was; put the newer copy back", backend.ErrRolledBack, b.image.at.step))
		}
		s := scan{at: b.image.at}
		for junk = int64(len(data)); junk > 0; junk = int64(len(data)) - (s.at.offset - begun) {
			st, ok, _ := s.next(data[s.at.offset-begun:])
			if !ok {
				break // nothing of it counts, whatever it is
			}
			b.moved(&st, s.at)
		}
		if s.at.offset == begun {
			most *= 4
		}
	}
	return junk, nil
}

// moved moves the image by a step that ends at the position.
func (b *Backend) moved(s *step, at position) {
	before := b.image.bytes
	b.image.bytes += at.offset - b.image.at.offset
	b.image.apply(s)
	b.image.at = at
	if before == 0 || before < foldBytes && b.image.bytes >= foldBytes {
		wake(b.kick)
	}
	for i := range s.records {
		if r := &s.records[i]; r.Writer == b.name {
			b.chain = link{r.Seq, r.Hash}
		}
	}
}

// cut cuts off what a process has left that ended before it had written a step, or that did not reach
// the disk before the power went.
func (b *Backend) cut(junk int64) error {
	b.log.end = b.image.at.offset
	if err := b.log.cut(); err != nil {
		return err
	}
	b.logger.Info("what was not committed is cut off the log of the state", "file", b.log.name(), "bytes", junk)
	return nil
}

// locate opens the segment in which the image is, or the next where the image is at the end of one: that
// may be sealed. It opens none, and loads the checkpoint anew, where another process has folded more
// meanwhile.
func (b *Backend) locate() error {
	at := &b.image.at
	unnamed := b.log.open() // a process ended while it put a segment aside
	if unnamed != nil && !errors.Is(unnamed, fs.ErrNotExist) {
		return unnamed
	}
	if h := &b.log.header; unnamed == nil && h.step == at.step && h.hash == at.hash { // it was put aside just behind the step
		at.segment, at.offset = h.segment, h.offset
		return nil
	}
	if unnamed != nil || b.log.header.segment > at.segment {
		f, header, err := b.log.openSegment(b.log.aside(at.segment)+fullSuffix, os.O_RDWR)
		if errors.Is(err, fs.ErrNotExist) {
			f, header, err = b.log.openSegment(b.log.aside(at.step)+fullSuffix, os.O_RDWR)
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
		return fmt.Errorf("%w: its log begins after step %d, and not after step %d; %s", backend.ErrRolledBack, b.log.header.segment, at.segment, b.log.remedy())
	}
	right, err := ends(b.log.file, &b.log.header, at)
	if err != nil || !right {
		b.log.close()
		return errors.Join(err, fmt.Errorf("%w: its log does not have step %d as it was; %s", backend.ErrRolledBack, at.step, b.log.remedy()))
	}
	at.offset = max(at.offset, b.log.header.offset)
	return nil
}

// remedy says what to do about a log that is older than its database, or damaged.
func (l *directory) remedy() string {
	return fmt.Sprintf("put the newer copy back, or, to go on with what the database has, end all petrigate that use it and remove %q and %q", l.name(), l.path+witnessSuffix)
}

// swap goes over to a copy of the segment that has got its name, if it has all that the image has of it.
func (b *Backend) swap() bool {
	f, header, err := b.log.openSegment(b.log.name(), os.O_RDWR)
	if err != nil {
		return false // which is said by goOver
	}
	at := &b.image.at
	if header.segment == at.segment && at.offset > header.offset {
		if right, err := ends(f, &header, at); err == nil && right {
			b.log.use(f, header)
			return true
		}
	}
	_ = f.Close()
	return false
}

// goOver goes over to the segment that follows, at the end of one that was put aside: that is another one of
// them, or the log, which has no name where a process ended while it put one aside.
func (b *Backend) goOver() error {
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
		f, header, err = b.log.openSegment(b.log.aside(at.step)+fullSuffix, os.O_RDWR)
		if errors.Is(err, fs.ErrNotExist) { // it is folded since
			return b.reload()
		}
		if err != nil {
			return err
		}
	}
	if header.step != at.step || header.hash != at.hash {
		_ = f.Close()
		return fmt.Errorf("%w: another log has taken the place of its log; put the newer copy back", backend.ErrRolledBack)
	}
	b.log.use(f, header)
	at.segment, at.offset = header.segment, header.offset
	return nil
}

// reload begins with the checkpoint again: it has to be further than the image, since a segment is sealed.
func (b *Backend) reload() error {
	before, chain := b.image, b.chain
	err := b.load()
	if err == nil && b.image.at.step <= before.at.step {
		err = fmt.Errorf("%w: it has the log folded in up to step %d, and what follows step %d is not in the log; put the newer copies of the database and its log back",
			backend.ErrRolledBack, b.image.at.step, before.at.step)
	}
	if err != nil {
		b.log.close()
		b.image, b.chain = before, chain
	}
	return err
}

// finish gives the next segment its name, where a process ended before it did. The image may still have to
// read others that were put aside before.
func (l *directory) finish(at *position) error {
	f, header, err := l.openSegment(l.path+nextSuffix, os.O_RDONLY)
	if err != nil {
		return fmt.Errorf("the log %q was removed while it was in use; put it back, or end all petrigate that use it and start anew", l.name())
	}
	_ = f.Close()
	if header.step > at.step {
		return nil
	}
	if header.step != at.step || header.hash != at.hash {
		return fmt.Errorf("%w: its log %q is missing; put it back", backend.ErrRolledBack, l.name())
	}
	return l.install()
}

// recover opens the log, reads it to its end, and cuts off the bytes behind the last step. It needs the turn and mu.
func (b *Backend) recover() error {
	if err := b.restore(); err != nil {
		return err
	}
	want, err := b.log.readWitness()
	if err != nil {
		return err
	}
	if err := b.follow(false); err != nil {
		return err
	}
	if at := &b.image.at; at.step < want.step || at.step == want.step && at.hash != want.hash {
		return fmt.Errorf("%w: its log ends with step %d, and had step %d; put the newer copy back, or, to go on without what was lost, end all petrigate that use it and remove %q",
			backend.ErrRolledBack, at.step, want.step, b.log.path+witnessSuffix)
	}
	return b.toEnd()
}

// restore sees to it that there is a log. A database without one is new, or was put back alone: then
// somebody has removed the witness as well.
func (b *Backend) restore() error {
	if _, err := b.log.disk.stat(b.log.name()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if f, header, err := b.log.openSegment(b.log.path+nextSuffix, os.O_RDONLY); err == nil { // it ended in putAside
		_ = f.Close()
		if header.step > b.image.at.step || b.image.at.offset > 0 {
			return b.log.install()
		}
	}
	switch _, err := b.log.disk.stat(b.log.path + witnessSuffix); {
	case errors.Is(err, fs.ErrNotExist):
		return b.log.start(&b.image.at)
	case err != nil:
		return err
	}
	return fmt.Errorf("%w: its log %q is missing; put it back, or, to go on with what the database has, end all petrigate that use it and remove %q",
		backend.ErrRolledBack, b.log.name(), b.log.path+witnessSuffix)
}

// wake wakes the goroutine that folds.
func wake(kick chan<- struct{}) {
	select {
	case kick <- struct{}{}:
	default:
	}
}
