package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/sqlite"
)

// batch holds the steps of a single write.
type batch struct {
	*Backend
	versions  map[backend.PartID]int64    // versions of parts of the state after the batch's steps
	refused   map[backend.PartID]bool     // parts of the state that the refused steps would have changed
	approvals map[string]backend.Approval // approvals that the ops use, as read from the checkpoint
	usedInLog []string                    // IDs of approvals that steps in the log had already used when [batch.fetch] began
	chain     chainEnd
	at        position // number and hash of the last step in the log and this batch; segment and offset are not updated

	lines   []byte
	steps   []step
	ops     []*backend.Op
	ends    []int // offset of each step's end in the batch's lines
	flush   bool
	foldErr error  // error from folding the log (writing it to the checkpoint); if not nil, calls are refused
	scratch []byte // buffer for hashing records
}

// newBatch returns an empty batch that reuses the memory of the last one. The caller must hold the
// appending lock.
func (b *Backend) newBatch() *batch {
	w := &b.batch
	clear(w.versions)
	if w.Backend = b; w.versions == nil || len(w.steps) > 64 {
		w.versions = map[backend.PartID]int64{}
	}
	clear(w.ops)
	*w = batch{Backend: b, versions: w.versions, steps: w.steps[:0], ops: w.ops[:0], ends: w.ends[:0], scratch: w.scratch}
	return w
}

// nextStep adds an empty step to the batch, reusing the memory of an earlier one.
func (w *batch) nextStep() *step {
	if len(w.steps) < cap(w.steps) {
		w.steps = w.steps[:len(w.steps)+1]
	} else {
		w.steps = append(w.steps, step{})
	}
	s := &w.steps[len(w.steps)-1]
	clear(s.moves)
	clear(s.records)
	*s = step{number: w.at.step + 1, moves: s.moves[:0], records: s.records[:0]}
	return s
}

// Commit implements [backend.Backend]. It appends all ops to the log in one write, each as a step.
func (b *Backend) Commit(ctx context.Context, ops []*backend.Op) error {
	for _, op := range ops {
		op.Err, op.Flush = nil, nil
	}
	b.lockAppend()
	defer b.unlockAppend()
	if err := b.commit(ctx, ops); err != nil {
		return fmt.Errorf("committing state: %w", err)
	}
	return nil
}

// commit is like Commit, but the caller must hold the appending lock.
func (b *Backend) commit(ctx context.Context, ops []*backend.Op) error {
	if err := b.beginAppend(ctx); err != nil {
		return err
	}
	defer func() { b.process.yield(time.Now()) }()
	w := b.newBatch()
	w.foldErr = b.retryFold()
	if err := w.fetch(ops); err != nil {
		return err
	}
	if err := w.append(ops); err != nil {
		return err
	}
	if w.flush {
		w.setFlush()
	}
	b.rotateIfFull()
	return nil
}

// beginAppend acquires the process lock, and begins a new segment if necessary. The caller must
// hold the appending lock.
func (b *Backend) beginAppend(ctx context.Context) error {
	if err := b.lockProcess(ctx); err != nil {
		return err
	}
	return b.replaceFailedSegment()
}

// lockProcess acquires the process lock and brings the image (the changes since the checkpoint) up
// to date with the log. The caller must hold the appending lock.
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

// fetch reads from the checkpoint the data needed to check the ops: the approvals that they use,
// and the versions of parts of the state that this process does not have in memory.
func (w *batch) fetch(ops []*backend.Op) error {
	var parts []backend.PartID
	var uses []string
	w.lockImage()
	for _, op := range ops {
		for i := range op.Writes {
			if _, known := w.image.version(op.Writes[i].ID); !known {
				parts = append(parts, op.Writes[i].ID)
			}
		}
		if op.Uses != "" {
			uses = append(uses, op.Uses)
			if _, used := w.image.used[op.Uses]; used {
				w.usedInLog = append(w.usedInLog, op.Uses)
			}
		}
	}
	folded := w.image.folded
	w.unlockImage()
	if len(parts)+len(uses) == 0 {
		return nil
	}
	versions := make([]int64, len(parts))
	err := w.checkpoint.Read(func(r sqlite.Reading) (err error) {
		if _, err := w.checkedPlace(r, folded); err != nil {
			return err
		}
		for i, id := range parts {
			if versions[i], err = r.Version(id); err != nil {
				return err
			}
		}
		w.approvals = map[string]backend.Approval{}
		for _, id := range uses {
			all, err := r.Approvals(id, "", time.Time{})
			if err != nil {
				return err
			}
			for _, a := range all {
				w.approvals[id] = a
			}
		}
		return nil
	})
	w.lockImage()
	defer w.unlockImage()
	if err != nil {
		w.lastErr = err
		return err
	}
	for i, id := range parts {
		if _, known := w.image.version(id); !known {
			w.image.setVersion(id, versions[i])
		}
	}
	return nil
}

// append checks the ops and appends the permitted ones to the log.
func (w *batch) append(ops []*backend.Op) error {
	w.lockImage()
	defer w.unlockImage()
	w.at, w.chain, w.lines = w.image.at, w.Backend.chain, w.log.buf[:0]
	for _, op := range ops {
		if op.Err = w.check(op); op.Err != nil {
			w.noteRefused(op)
			continue
		}
		if err := w.add(op); err != nil {
			op.Err = err
			w.noteRefused(op)
		}
	}
	if len(w.steps) == 0 {
		return nil
	}
	if err := w.checkBacklog(); err != nil {
		return err
	}
	w.log.end = w.image.at.offset
	n, err := w.log.append(w.lines, w.ends)
	if cap(w.lines) <= 1<<20 {
		w.log.buf = w.lines[:0]
	}
	if w.lastErr = err; err == nil && w.flush {
		w.log.addPadding()
	}
	start := w.image.at.offset
	for i := range w.steps {
		if w.ends[i] > n {
			w.noteNoSpace(len(w.lines) - n)
			w.process.setStale()
			if i == 0 {
				return err // nothing has been committed
			}
			for _, op := range w.ops[i:] {
				op.Err = err
			}
			return nil
		}
		s := &w.steps[i]
		w.advance(s, position{s.number, s.hash, w.image.at.segment, start + int64(w.ends[i])})
	}
	return nil
}

// checkBacklog returns an error if the checkpoint is too far behind the log.
func (w *batch) checkBacklog() error {
	if w.image.bytes < maxBacklog {
		return nil
	}
	if w.lastFoldErr == nil {
		return errBacklog
	}
	return fmt.Errorf("%w: %w", errBacklog, w.lastFoldErr)
}

var errBacklog = errors.New("too much of the state log is not in its checkpoint yet")

// check returns an error if the op must be refused.
func (w *batch) check(op *backend.Op) error {
	if op.Reserve {
		if w.foldErr != nil {
			return w.foldErr
		}
		if _, all := w.image.stops[""]; all {
			return backend.ErrStopped
		}
		if _, one := w.image.stops[op.Session]; one {
			return backend.ErrStopped
		}
		if newest := w.image.clock.Newest(); !op.Time.IsZero() && newest.Sub(op.Time) > backend.Skew {
			return backend.Behind(op.Time, newest)
		}
	}
	for i := range op.Writes {
		id := op.Writes[i].ID
		version, moved := w.versions[id]
		known := moved
		if !moved {
			version, known = w.image.version(id)
		}
		if !known || version != op.Writes[i].Version || w.refused[id] && !moved {
			return backend.ErrStale
		}
	}
	if op.Uses == "" {
		return nil
	}
	a, ok := w.approvals[op.Uses]
	if _, used := w.image.used[op.Uses]; !ok || used || slices.Contains(w.usedInLog, op.Uses) || a.State != backend.Approved || !a.Expires.After(w.time(op)) {
		return backend.ErrUsed
	}
	return nil
}

// noteRefused records the parts of the state that a refused op would have changed. A later op in
// the batch that depends on these changes must be refused too, even if another process has written
// a version with the expected number.
func (w *batch) noteRefused(op *backend.Op) {
	for i := range op.Writes {
		if m := &op.Writes[i]; !m.Read {
			if w.refused == nil {
				w.refused = map[backend.PartID]bool{}
			}
			w.refused[m.ID] = true
		}
	}
}

// time returns the op's time, or the current time if the op has none.
func (w *batch) time(op *backend.Op) time.Time {
	if op.Time.IsZero() {
		return w.now()
	}
	return op.Time
}

// add adds an op to the batch as a step.
func (w *batch) add(op *backend.Op) error {
	s, at := w.nextStep(), w.time(op)
	if op.Uses != "" {
		s.used, s.usedAt = op.Uses, at
	}
	for i := range op.Writes {
		m := &op.Writes[i]
		if m.Read {
			continue
		}
		version := m.Version + 1
		if m.Data == nil && m.Change == nil {
			version = 0
		}
		s.moves = append(s.moves, move{id: m.ID, version: version, changed: at, data: m.Data, change: m.Change, values: m.Values})
	}
	chain := w.addRecords(s, op.Events)
	lines, err := appendStep(w.lines, s, w.at.hash)
	if err != nil {
		w.steps = w.steps[:len(w.steps)-1]
		return err
	}
	if op.Uses != "" {
		delete(w.approvals, op.Uses)
	}
	for i := range s.moves {
		w.versions[s.moves[i].id] = s.moves[i].version
	}
	w.lines, w.chain = lines, chain
	w.at.step, w.at.hash = s.number, s.hash
	w.ops, w.ends = append(w.ops, op), append(w.ends, len(lines))
	w.flush = w.flush || w.needsFlush(op)
	return nil
}

// addRecords adds the events to the step as records, and returns the new end of the chain of
// records.
func (w *batch) addRecords(s *step, events []backend.Event) chainEnd {
	c := w.chain
	for i := range events {
		e := &events[i]
		c.seq++
		c.hash, w.scratch = audit.LinkIn(w.scratch, c.hash, c.seq, e.Object)
		s.records = append(s.records, backend.Record{Event: *e, Writer: w.name, Seq: c.seq, Hash: c.hash})
	}
	return c
}

// needsFlush reports whether the op must be on disk before its call is sent.
func (w *batch) needsFlush(op *backend.Op) bool {
	switch w.sync {
	case Always:
		return op.Reserve
	case Normal:
		return false
	}
	return op.Reserve && (op.Lasts || op.Uses != "")
}

// setFlush sets the Flush field of the batch's ops that admit calls. Commit leaves the flush to its
// caller, so that other steps can be appended concurrently.
func (w *batch) setFlush() {
	w.lockImage()
	d, step := w.log.flusher, w.image.at.step
	d.retain()
	w.unlockImage()
	b := w.Backend
	flush := sync.OnceValue(func() error {
		defer d.release()
		if err := b.ensureFlushed(d, step); err != nil {
			return fmt.Errorf("%w: %w", backend.ErrUnflushed, err)
		}
		return nil
	})
	for _, op := range w.ops {
		if op.Err == nil && op.Reserve {
			op.Flush = flush
		}
	}
}

// replaceFailedSegment begins a new segment if a flush has failed, because it is then unknown how
// much of the old segment is on disk. The caller must hold the process lock.
func (b *Backend) replaceFailedSegment() error {
	b.lockImage()
	failed := b.log.flusher.failed()
	b.unlockImage()
	if !failed {
		return nil
	}
	b.lockFold()
	err := b.foldNow(false)
	b.unlockFold()
	if err != nil {
		return err
	}
	b.lockImage()
	defer b.unlockImage()
	return b.rotate(true)
}

// noteNoSpace records that n bytes did not fit on the disk. The caller must hold mu.
func (w *batch) noteNoSpace(n int) { w.spaceNeeded = max(w.spaceNeeded, n) }
