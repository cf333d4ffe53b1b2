package journal

import (
	"errors"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// A hooked value is a file that calls a function once, immediately ahead of its next write.
type hooked struct {
	file
	before func() // may be nil
}

func (h *hooked) WriteAt(b []byte, at int64) (int, error) {
	if before := h.before; before != nil {
		h.before = nil
		before()
	}
	return h.file.WriteAt(b, at)
}

// TestNoRotationAfterFailedFlush checks that, after a failed flush, the segment is not renamed
// until the checkpoint contains its steps. Otherwise, the next step would follow steps that a power
// loss could destroy.
func TestNoRotationAfterFailedFlush(t *testing.T) {
	b, g := gated(t)
	first := flushed(lasting(t, b, "a"))
	<-g.arrived
	d := b.log.flusher
	b.log.file = &hooked{b.log.file, func() {
		for g.result <- errTampered; !d.failed(); {
			runtime.Gosched()
		}
	}}
	b.segment = 1 // the next step fills the segment
	outcome := sample("b", 0)
	outcome.Reserve = false
	if err := commit(t.Context(), b, outcome); err != nil {
		t.Fatal(err)
	}
	if err := <-first[0]; !errors.Is(err, errTampered) {
		t.Fatal(err)
	}
	if b.image.at.segment != 0 {
		t.Errorf("the segment was put aside behind step %d", b.image.at.segment)
	}
	b.segment = maxSegment
	g.open()
	if err := lasting(t, b, "c")(); err != nil || place1(t, b).Step != 2 || b.image.at.segment != 2 {
		t.Errorf("%v in the segment behind step %d, with the checkpoint at step %d", err, b.image.at.segment, place1(t, b).Step)
	}
}

// TestRecordsBesideAppends checks that a reader returns all earlier records without a gap if it
// reads padding, another goroutine writes steps there, and the reader continues in the middle of a
// step.
func TestRecordsBesideAppends(outer *testing.T) {
	t := try(outer)
	const block = 256 << 10 // number of bytes that a reader reads at a time
	t.step(1000, true)
	before := t.backend.image.at.offset
	t.step(1000, true)
	each := t.backend.image.at.offset - before
	for t.backend.image.at.offset+2*each < block {
		t.step(1000, true)
	}
	t.step(1000+int(block-300-each-t.backend.image.at.offset), true) // now the log ends shortly before the end of a block
	want, got := t.version, int64(0)
	for r, err := range t.backend.Records(t.Context(), backend.Query{}) {
		t.must(err)
		if r.Seq == 1 {
			t.step(1000, true)
			t.step(1000, true)
		}
		if got++; r.Seq != uint64(got) {
			t.Fatalf("record %d comes after record %d", r.Seq, got-1)
		}
	}
	if got < want {
		t.Errorf("%d records, there were %d", got, want)
	}
}

// unlocked removes the lock files of the state at path.
func unlocked(t *testing.T, path string) {
	t.Helper()
	for _, suffix := range []string{"-turn", "-next"} {
		if err := os.Remove(path + suffix); err != nil {
			t.Fatal(err)
		}
	}
}

// reserves returns a reservation that changes the part shared by all sessions.
func reserves(version int64) *backend.Op {
	op := writes(shared, version)
	op.Reserve = true
	return op
}

// TestLockFilesRemovedWhileHeld checks that, if the lock files are removed while a process holds
// the lock, the process sees the steps that another process has since written into the padding.
func TestLockFilesRemovedWhileHeld(outer *testing.T) {
	t := try(outer)
	b := open(outer, Options{Path: t.path})
	t.step(400, true)
	t.backend.lockAppend()
	unlocked(outer, t.path)
	does(outer, b, reserves(0))
	t.backend.unlockAppend()
	t.due()
	if err := commit(t.Context(), t.backend, reserves(0)); !errors.Is(err, backend.ErrStale) {
		t.Errorf("a second reservation of the same version: %v", err)
	}
	t.backend.abandon()
	has(outer, b, shared, 1)
}

// TestLockFilesRemovedBeforeClose checks that, if the lock files are removed while a process closes
// the log, the process cuts off padding, but no steps of another process.
func TestLockFilesRemovedBeforeClose(outer *testing.T) {
	d := &tampered{}
	path := place(outer)
	a, b := open(outer, Options{Path: path, disk: d}), open(outer, Options{Path: path})
	if err := lasting(outer, a, "a")(); err != nil {
		outer.Fatal(err)
	}
	does(outer, a, &backend.Op{Events: []backend.Event{{Time: time.Now(), Object: []byte(`{"event":"outcome"}`)}}})
	a.tamper(once("sync", logSuffix, func() error {
		unlocked(outer, path)
		does(outer, b, reserves(0))
		return nil
	}))
	_ = a.Close()
	if right, err := endsAt(b.log.file, &b.log.header, &b.image.at); err != nil || !right {
		outer.Errorf("step %d, which was acknowledged, is cut off: %v", b.image.at.step, err)
	}
}

// TestCloseBesideOthers checks that other processes can commit while a process folds the log before
// closing it.
func TestCloseBesideOthers(t *testing.T) {
	path := place(t)
	a, b := open(t, Options{Path: path, disk: &tampered{}}), open(t, Options{Path: path})
	does(t, a, writes(shared, 0))
	a.tamper(once("sync", logSuffix, func() error {
		does(t, b, reserves(1))
		return nil
	}))
	b.process.timeout /= 100
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	has(t, b, shared, 2)
}
