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

// A link is the end of the chain of records of this process.
type link struct {
	seq  uint64
	hash [32]byte
}

// A batch is the steps that are appended together.
type batch struct {
	*Backend
	versions  map[backend.PartID]int64    // of parts that steps of the batch move
	refused   map[backend.PartID]bool     // parts that refused steps would have moved
	approvals map[string]backend.Approval // that may be used, as far as the checkpoint knows
	spent     []string                    // of these, those that the log had used before the checkpoint was read
	chain     link
	at        position // behind the steps so far, but for the offset

	lines   []byte
	steps   []step
	ops     []*backend.Op
	ends    []int // of the steps in lines
	flush   bool
	amiss   error  // why the log cannot be folded; nil: it can, or its database is locked for a while
	scratch []byte // for the hashes of records
}

// newBatch returns the batch that is used again and again. It needs appending.
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

// next is another step of the batch, with the room of one that was.
func (w *batch) next() *step {
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

// Commit appends the ops, each as one step, in one write.
func (b *Backend) Commit(ctx context.Context, ops []*backend.Op) error {
	for _, op := range ops {
		op.Err, op.Flush = nil, nil
	}
	b.begin()
	defer b.end()
	if err := b.commit(ctx, ops); err != nil {
		return fmt.Errorf("committing to the state: %w", err)
	}
	return nil
}

// commit needs appending.
func (b *Backend) commit(ctx context.Context, ops []*backend.Op) error {
	err := b.lead(ctx)
	if err == nil {
		err = b.repair()
	}
	if err != nil {
		return err
	}
	defer func() { b.turns.rest(time.Now()) }()
	w := b.newBatch()
	w.amiss = b.foldAnew()
	if err := w.fetch(ops); err != nil {
		return err
	}
	if err := w.append(ops); err != nil {
		return err
	}
	if w.flush {
		w.defers()
	}
	b.roll()
	return nil
}

// fetch reads versions and approvals that only the checkpoint has.
func (w *batch) fetch(ops []*backend.Op) error {
	var parts []backend.PartID
	var uses []string
	w.hold()
	for _, op := range ops {
		for i := range op.Writes {
			if _, known := w.image.version(op.Writes[i].ID); !known {
				parts = append(parts, op.Writes[i].ID)
			}
		}
		if op.Uses != "" {
			uses = append(uses, op.Uses)
			if _, used := w.image.used[op.Uses]; used {
				w.spent = append(w.spent, op.Uses)
			}
		}
	}
	folded := w.image.folded
	w.release()
	if len(parts)+len(uses) == 0 {
		return nil
	}
	versions := make([]int64, len(parts))
	err := w.checkpoint.Read(func(r sqlite.Reading) (err error) {
		place, err := r.Place()
		if err == nil {
			err = w.vet(&place, folded)
		}
		if err != nil {
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
	w.hold()
	defer w.release()
	if err != nil {
		w.fault = err
		return err
	}
	for i, id := range parts {
		if _, known := w.image.version(id); !known {
			w.image.know(id, versions[i])
		}
	}
	return nil
}

// append decides which ops may be, and appends them.
func (w *batch) append(ops []*backend.Op) error {
	w.hold()
	defer w.release()
	w.at, w.chain, w.lines = w.image.at, w.Backend.chain, w.log.buf[:0]
	for _, op := range ops {
		if op.Err = w.judge(op); op.Err != nil {
			w.refuse(op)
			continue
		}
		if err := w.take(op); err != nil {
			op.Err = err
			w.refuse(op)
		}
	}
	if len(w.steps) == 0 {
		return nil
	}
	if err := w.room(); err != nil {
		return err
	}
	w.log.end = w.image.at.offset
	n, err := w.log.append(w.lines, w.ends)
	if cap(w.lines) <= 1<<20 {
		w.log.buf = w.lines[:0]
	}
	if w.fault = err; err == nil && w.flush {
		w.log.makeRoom()
	}
	start := w.image.at.offset
	for i := range w.steps {
		if w.ends[i] > n {
			w.lacked(len(w.lines) - n)
			return w.lost(i, err)
		}
		s := &w.steps[i]
		w.moved(s, position{s.number, s.hash, w.image.at.segment, start + int64(w.ends[i])})
	}
	return nil
}

// lost ends the ops from the step on, which could not be written.
func (w *batch) lost(from int, err error) error {
	w.turns.lost()
	if from == 0 {
		return err // nothing of any op is committed
	}
	for _, op := range w.ops[from:] {
		op.Err = err
	}
	return nil
}

// room refuses to write where too much is not folded.
func (w *batch) room() error {
	if w.image.bytes < mostBacklog {
		return nil
	}
	if w.unfolded == nil {
		return errBacklog
	}
	return fmt.Errorf("%w: %w", errBacklog, w.unfolded)
}

var errBacklog = errors.New("too much of the log of the state is not folded into its database")

// judge says why an op may not be.
func (w *batch) judge(op *backend.Op) error {
	if op.Reserve {
		if w.amiss != nil {
			return w.amiss
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
	if _, used := w.image.used[op.Uses]; !ok || used || slices.Contains(w.spent, op.Uses) || a.State != backend.Approved || !a.Expires.After(w.time(op)) {
		return backend.ErrUsed
	}
	return nil
}

// refuse notes what op would have moved: a later op of the batch may have been decided on it, while
// another process has written the same version.
func (w *batch) refuse(op *backend.Op) {
	for i := range op.Writes {
		if m := &op.Writes[i]; !m.Read {
			if w.refused == nil {
				w.refused = map[backend.PartID]bool{}
			}
			w.refused[m.ID] = true
		}
	}
}

// time is that of an op.
func (w *batch) time(op *backend.Op) time.Time {
	if op.Time.IsZero() {
		return w.now()
	}
	return op.Time
}

// take makes an op a step of the batch.
func (w *batch) take(op *backend.Op) error {
	s, at := w.next(), w.time(op)
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
	chain := w.enter(s, op.Events)
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
	w.flush = w.flush || w.flushes(op)
	return nil
}

// enter makes the records of a step, and returns the end of the chain with them.
func (w *batch) enter(s *step, events []backend.Event) link {
	c := w.chain
	for i := range events {
		e := &events[i]
		c.seq++
		c.hash, w.scratch = audit.LinkIn(w.scratch, c.hash, c.seq, e.Object)
		s.records = append(s.records, backend.Record{Event: *e, Writer: w.name, Seq: c.seq, Hash: c.hash})
	}
	return c
}

// flushes reports whether an op is on the disk once it is committed.
func (w *batch) flushes(op *backend.Op) bool {
	switch w.sync {
	case Always:
		return op.Reserve
	case Normal:
		return false
	}
	return op.Reserve && (op.Lasts || op.Uses != "")
}

// defers gives the ops that must be on the disk their flush. The caller of Commit runs it, so that other
// steps are appended meanwhile.
func (w *batch) defers() {
	w.hold()
	d, step := w.log.flushing, w.image.at.step
	d.enter()
	w.release()
	b := w.Backend
	flush := sync.OnceValue(func() error {
		defer d.leave()
		if err := b.bring(d, step); err != nil {
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

// bring returns once a step is on the disk. After an error a loss of power may take the step, and those
// behind it in its segment.
func (b *Backend) bring(d *flushing, step uint64) error {
	err := d.bring(step, func() uint64 {
		b.hold()
		defer b.release()
		return b.image.at.step
	})
	if err != nil {
		b.hold()
		defer b.release()
		b.fault = err
	}
	return err
}

// repair begins another segment after a flush has failed: how much of the old one is on the disk is not
// known. It needs the turn.
func (b *Backend) repair() error {
	b.hold()
	failed := b.log.flushing.failed()
	b.release()
	if !failed {
		return nil
	}
	b.beginFold()
	err := b.foldNow(false)
	b.endFold()
	if err != nil {
		return err
	}
	b.hold()
	defer b.release()
	return b.putAside(true)
}
