package journal

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/sqlite"
)

// replica is this process's view of the log: the current segment, and the image (the changes since
// the checkpoint) after its last step. Other processes append to the same log, and the replica
// follows them.
//
// The appending lock guards the field process. Backend.mu guards the fields log, image, chain and
// retrySize, so callers of methods that use these fields must hold it.
type replica struct {
	name       string // name of this process's chain of records
	logger     *slog.Logger
	process    processLock
	checkpoint *sqlite.Checkpoint // the checkpoint; the image has the later changes
	kick       chan struct{}      // wakes the goroutine that folds the log

	log       log
	image     image
	chain     chainEnd
	retrySize int64 // segment size that triggers the next attempt after a failed rotation
}

// Limits on how far the log may grow beyond the checkpoint.
const (
	foldAfter  = time.Second
	foldBytes  = 8 << 20     // the log is folded immediately once the lines since the checkpoint reach this size in bytes
	foldRetry  = time.Second // delay after a failed fold
	maxBacklog = 64 << 20    // no calls are admitted once the lines since the checkpoint reach this size in bytes
	maxSegment = 16 << 20    // segment size in bytes that triggers a rotation
)

// chainEnd identifies the last record in this process's chain.
type chainEnd struct {
	seq  uint64
	hash [32]byte
}

// load sets the image to the state of the checkpoint. The next read of the log begins at the
// checkpoint's position.
func (r *replica) load() error {
	var at sqlite.Place
	err := r.checkpoint.Read(func(read sqlite.Reading) (err error) {
		if at, err = read.Place(); err != nil {
			return err
		}
		stops, err := read.Stops()
		if err != nil {
			return err
		}
		clock, err := read.Clock()
		r.image = newImage(&at, stops, clock)
		if err != nil {
			return err
		}
		heads, err := read.Heads()
		for i := range heads {
			if h := &heads[i]; h.Writer == r.name && h.Seq > r.chain.seq {
				r.chain = chainEnd{h.Seq, h.Hash}
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	switch r.log.database {
	case "":
		r.log.database = at.ID
	case at.ID:
	default:
		return fmt.Errorf("%w: another database has replaced it", backend.ErrRolledBack)
	}
	r.log.close()
	return nil
}

// recover opens the log, reads it to its end, and removes the bytes after the last step. The caller
// must hold the process lock and mu.
func (r *replica) recover() error {
	if err := r.ensureLog(); err != nil {
		return err
	}
	want, err := r.log.readDurableEnd()
	if err != nil {
		return err
	}
	if err := r.follow(false); err != nil {
		return err
	}
	if at := &r.image.at; at.step < want.step || at.step == want.step && at.hash != want.hash {
		return fmt.Errorf("%w: its log ends with step %d, but had step %d; restore the newer copy or, to continue without the lost steps, stop all petrigate processes that use it and remove %q",
			backend.ErrRolledBack, at.step, want.step, r.log.path+endSuffix)
	}
	return r.readToEnd()
}

// ensureLog creates the log if it does not exist, or completes an interrupted rotation. If an
// existing log was lost, ensureLog returns an error. To start a new log nevertheless, an operator
// can remove the file with the [durableEnd].
func (r *replica) ensureLog() error {
	if _, err := r.log.disk.stat(r.log.name()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if f, header, err := r.log.openSegment(r.log.path+nextSuffix, os.O_RDONLY); err == nil { // a process ended during a rotation
		_ = f.Close()
		if header.step > r.image.at.step || r.image.at.offset > 0 {
			return r.log.installNext()
		}
	}
	switch _, err := r.log.disk.stat(r.log.path + endSuffix); {
	case errors.Is(err, fs.ErrNotExist):
		if err := r.log.writeSegment(r.log.path+nextSuffix, &r.image.at); err != nil {
			return err
		}
		return r.log.installNext()
	case err != nil:
		return err
	}
	return fmt.Errorf("%w: its log %q is missing; restore it or, to continue from the checkpoint, stop all petrigate processes that use it and remove %q",
		backend.ErrRolledBack, r.log.name(), r.log.path+endSuffix)
}

// verifyEnd reads and applies the steps that other processes have appended to the log. While this
// process holds the process lock, no other process appends, so verifyEnd usually has nothing to do.
// Once per lease, however, it checks whether the file was removed, replaced or truncated. The
// caller must hold the process lock and mu.
func (r *replica) verifyEnd() error {
	now := time.Now()
	if since := now.Sub(r.process.verified); since >= 0 && since < lease {
		return nil
	}
	if r.log.file != nil && !r.process.verified.IsZero() {
		named, err := r.log.hasName()
		size, _, more := r.log.file.state()
		if err == nil && more == nil && named && size == r.log.size {
			if r.log.isEnd(&r.image.at) {
				r.process.setCurrent(now)
				return nil
			}
		}
	}
	return r.readToEnd()
}

// readToEnd reads the log to its end. It also completes an interrupted rotation, and removes any
// bytes after the last step unless they are padding (spaces). The caller must hold the process lock
// and mu.
func (r *replica) readToEnd() error {
	err := r.follow(true)
	if err == nil {
		r.log.scanned = true
		r.process.setCurrent(time.Now())
	} else {
		r.process.setStale()
	}
	return err
}

// follow brings the image up to date with the log. If lead is true, this process must hold the
// process lock. In this case, follow also completes an interrupted rotation, and removes any bytes
// after the last step unless they are padding (spaces). The caller must hold mu.
func (r *replica) follow(lead bool) error {
	for range 1000 {
		if r.log.file == nil {
			if err := r.openPosition(); err != nil {
				return err
			}
			if r.log.file == nil {
				continue
			}
		}
		named, err := r.log.hasName()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		junk, broken := r.readSteps() // call readSteps after hasName; no process appends to a file after it is renamed, so readSteps then reads all of its steps
		switch {
		case err == nil && !named && r.reopen():
			continue
		case broken != nil:
			return broken
		case named && (junk == 0 || !lead):
			return nil
		case named:
			return r.cut(junk)
		case junk > 0:
			return fmt.Errorf("%w: the log segment that begins after step %d is damaged after step %d; restore a good copy", backend.ErrRolledBack, r.image.at.segment, r.image.at.step)
		}
		if err != nil && !lead { // another process is about to give the next segment the log's name
			if _, missing := r.log.disk.stat(r.log.segmentName(r.image.at.step) + fullSuffix); missing != nil {
				return nil
			}
		} else if err != nil {
			if err := r.log.finishRotation(&r.image.at); err != nil {
				return err
			}
		}
		if err := r.openNext(); err != nil {
			return err
		}
	}
	return errors.New("the log is rotated again and again")
}

// readSize is the number of bytes that readSteps reads at a time. If these bytes do not contain a
// whole step, readSteps reads more.
const readSize = 1 << 20

// readSteps applies the remaining steps of the current segment to the image. It returns the number
// of bytes after the last whole step, not counting padding (spaces at the end).
func (r *replica) readSteps() (junk int64, err error) {
	var data []byte
	for most, more := readSize, true; more; {
		begun := r.image.at.offset
		if data, more, err = r.log.readFrom(data, begun, most, !r.log.scanned); err != nil {
			return 0, err
		}
		if right, err := endsAt(r.log.file, &r.log.header, &r.image.at); err != nil || !right {
			return 0, errors.Join(err, fmt.Errorf("%w: step %d of the log has changed; restore the newer copy", backend.ErrRolledBack, r.image.at.step))
		}
		s := scan{at: r.image.at}
		for junk = int64(len(data)); junk > 0; junk = int64(len(data)) - (s.at.offset - begun) {
			st, ok, _ := s.next(data[s.at.offset-begun:])
			if !ok {
				break // ignore the remaining bytes, whatever they contain
			}
			r.advance(&st, s.at)
		}
		if s.at.offset == begun {
			most *= 4
		}
	}
	return junk, nil
}

// advance applies a step to the image (the changes since the checkpoint), and records that the log
// has been read up to the given position.
func (r *replica) advance(s *step, at position) {
	before := r.image.bytes
	r.image.bytes += at.offset - r.image.at.offset
	r.image.apply(s)
	r.image.at = at
	if before == 0 || before < foldBytes && r.image.bytes >= foldBytes {
		wake(r.kick)
	}
	for i := range s.records {
		if own := &s.records[i]; own.Writer == r.name {
			r.chain = chainEnd{own.Seq, own.Hash}
		}
	}
}

// cut removes the bytes after the last step. Such bytes remain if a process ended in the middle of
// a write or if the power failed before the step was on disk.
func (r *replica) cut(junk int64) error {
	r.log.end = r.image.at.offset
	if err := r.log.cut(); err != nil {
		return err
	}
	r.logger.Info("removed uncommitted bytes from the state log", "file", r.log.name(), "bytes", junk)
	return nil
}

// openPosition opens the segment that this process must read next. This is the segment with the
// last step that the process has applied or, if that step is at the end of a full segment, the next
// segment. If another process has just sealed the segment, openPosition opens no file and reloads
// the state from the checkpoint.
func (r *replica) openPosition() error {
	at := &r.image.at
	unnamed := r.log.open() // the file is missing during a rotation, and after a rotation that was interrupted
	if unnamed != nil && !errors.Is(unnamed, fs.ErrNotExist) {
		return unnamed
	}
	if h := &r.log.header; unnamed == nil && h.step == at.step && h.hash == at.hash { // this process has applied all steps before the current segment, but none in it
		at.segment, at.offset = h.segment, h.offset
		return nil
	}
	if unnamed != nil || r.log.header.segment > at.segment {
		f, header, err := r.log.openSegment(r.log.segmentName(at.segment)+fullSuffix, os.O_RDWR)
		if errors.Is(err, fs.ErrNotExist) {
			f, header, err = r.log.openSegment(r.log.segmentName(at.step)+fullSuffix, os.O_RDWR)
		}
		if errors.Is(err, fs.ErrNotExist) && unnamed == nil {
			return r.reload()
		}
		if err != nil {
			r.log.close()
			return err
		}
		r.log.setFile(f, header)
	}
	if r.log.header.step == at.step {
		at.segment, at.offset = r.log.header.segment, r.log.header.offset
	}
	if r.log.header.segment < at.segment {
		r.log.close()
		return fmt.Errorf("%w: its log begins after step %d, not after step %d; %s", backend.ErrRolledBack, r.log.header.segment, at.segment, r.log.remedy())
	}
	right, err := endsAt(r.log.file, &r.log.header, at)
	if err != nil || !right {
		r.log.close()
		return errors.Join(err, fmt.Errorf("%w: step %d of its log has changed; %s", backend.ErrRolledBack, at.step, r.log.remedy()))
	}
	at.offset = max(at.offset, r.log.header.offset)
	return nil
}

// reopen switches to another file that has taken over the log's name, such as a copy of the log. It
// switches only if the file contains the last step that this process has applied, and reports
// whether it has switched.
func (r *replica) reopen() bool {
	f, header, err := r.log.openSegment(r.log.name(), os.O_RDWR)
	if err != nil {
		return false // ignore the error, because openNext reports it
	}
	at := &r.image.at
	if header.segment == at.segment && at.offset > header.offset {
		if right, err := endsAt(f, &header, at); err == nil && right {
			r.log.setFile(f, header)
			return true
		}
	}
	_ = f.Close()
	return false
}

// openNext switches from the current segment, which has been renamed, to the next one. The next
// segment is the log itself, or a renamed segment if the log has been rotated again.
func (r *replica) openNext() error {
	at := &r.image.at
	f, header, err := r.log.openSegment(r.log.name(), os.O_RDWR)
	unnamed := errors.Is(err, fs.ErrNotExist)
	if err != nil && !unnamed {
		return err
	}
	if unnamed || header.step > at.step {
		if !unnamed {
			_ = f.Close()
		}
		f, header, err = r.log.openSegment(r.log.segmentName(at.step)+fullSuffix, os.O_RDWR)
		if errors.Is(err, fs.ErrNotExist) { // the segment has already been sealed, because the checkpoint contains its steps
			return r.reload()
		}
		if err != nil {
			return err
		}
	}
	if header.step != at.step || header.hash != at.hash {
		_ = f.Close()
		return fmt.Errorf("%w: another log has replaced its log; restore the newer copy", backend.ErrRolledBack)
	}
	r.log.setFile(f, header)
	at.segment, at.offset = header.segment, header.offset
	return nil
}

// reload replaces this process's state with the state in the checkpoint. It is used when the next
// steps are in a segment that was already sealed, so the checkpoint must contain them. If the
// checkpoint is not ahead of this process, an older copy has replaced it, and reload returns an
// error.
func (r *replica) reload() error {
	before, chain := r.image, r.chain
	err := r.load()
	if err == nil && r.image.at.step <= before.at.step {
		err = fmt.Errorf("%w: its checkpoint is at step %d, and the log has no steps after step %d; restore the newer copies of the database and its log",
			backend.ErrRolledBack, r.image.at.step, before.at.step)
	}
	if err != nil {
		r.log.close()
		r.image, r.chain = before, chain
	}
	return err
}

// rotate renames the current segment and begins the next one. Before that, it flushes the steps
// that the checkpoint does not contain, because the steps in the next segment depend on them. The
// caller must hold the process lock and mu.
func (r *replica) rotate(folded bool) error {
	l, at := &r.log, &r.image.at
	l.cutPadding(at.offset)
	if err := l.flusher.flushTo(at.step, func() uint64 { return at.step }); err != nil && !folded {
		return err
	}
	if err := l.writeSegment(l.path+nextSuffix, at); err != nil {
		return err
	}
	dir := filepath.Dir(l.path) // flush now, because the disk might write directory entries out of order
	if err := l.disk.syncDir(dir); err != nil {
		return err
	}
	aside := l.segmentName(l.header.segment) + fullSuffix
	if err := l.disk.rename(l.name(), aside); err != nil {
		return err
	}
	err := l.disk.syncDir(dir)
	if err == nil {
		err = l.installNext()
	}
	if err != nil {
		return errors.Join(err, l.disk.rename(aside, l.name()))
	}
	r.retrySize = 0
	return r.openNext()
}

// writeDurableEnd stores the last step known to be on disk in a file; see [durableEnd]. It only
// logs errors. After an error, the next start might not detect that an older copy has replaced the
// log.
func (r *replica) writeDurableEnd(at position) {
	name := r.log.path + endSuffix
	data, err := json.Marshal(durableEnd{at.step, hex.EncodeToString(at.hash[:])})
	if err == nil {
		err = r.log.replace(name, append(data, '\n'))
	}
	if err != nil {
		r.logger.Warn("cannot note the end of the state log; a restart will not detect an older copy", "file", name, "error", err)
	}
}

// checkedPlace returns the checkpoint's position, or an error if another database or an older copy
// has replaced the database.
func (r *replica) checkedPlace(from sqlite.Reading, folded uint64) (at sqlite.Place, err error) {
	at, err = from.Place()
	switch {
	case err != nil:
	case at.ID != r.log.database:
		err = fmt.Errorf("%w: the log belongs to another database; restore its own database", backend.ErrRolledBack)
	case at.Step < folded:
		err = sqlite.FoldError(at.Step, folded)
	}
	return at, err
}

// wake wakes the goroutine that folds the log.
func wake(kick chan<- struct{}) {
	select {
	case kick <- struct{}{}:
	default:
	}
}
