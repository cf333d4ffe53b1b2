package journal

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/sqlite"
)

// abandon simulates kill -9: it releases the locks without folding the log.
func (b *Backend) abandon() {
	b.appending.Lock()
	defer b.appending.Unlock()
	b.mu.Lock()
	closed := b.closed
	b.closed = true
	b.mu.Unlock()
	if closed {
		return
	}
	b.timer.Stop()
	close(b.stop)
	<-b.ended
	b.process.close()
	b.mu.Lock()
	b.log.close()
	b.mu.Unlock()
	_ = b.checkpoint.Close()
}

// tampered is a disk that calls a function before each operation. The function can also make the
// operation fail.
type tampered struct {
	osDisk
	before func(op, name string) error // may be nil
}

func (d *tampered) does(op, name string) error {
	if d.before == nil {
		return nil
	}
	return d.before(op, name)
}

func (d *tampered) open(name string, flags int) (file, error) {
	if err := d.does("open", name); err != nil {
		return nil, err
	}
	f, err := d.osDisk.open(name, flags)
	if err != nil {
		return nil, err
	}
	return &tamperedFile{f, name, d}, nil
}

func (d *tampered) stat(name string) (fs.FileInfo, error) {
	if err := d.does("stat", name); err != nil {
		return nil, err
	}
	return d.osDisk.stat(name)
}

func (d *tampered) rename(from, to string) error {
	if err := d.does("rename", to); err != nil {
		return err
	}
	return d.osDisk.rename(from, to)
}

func (d *tampered) remove(name string) error {
	if err := d.does("remove", name); err != nil {
		return err
	}
	return d.osDisk.remove(name)
}

func (d *tampered) list(dir string) ([]string, error) {
	if err := d.does("list", dir); err != nil {
		return nil, err
	}
	return d.osDisk.list(dir)
}

type tamperedFile struct {
	file
	name string
	disk *tampered
}

func (f *tamperedFile) sync() error {
	if err := f.disk.does("sync", f.name); err != nil {
		return err
	}
	return f.file.sync()
}

// tamper sets the function that the disk of b calls before each operation.
func (b *Backend) tamper(before func(op, name string) error) {
	b.folding.Lock()
	defer b.folding.Unlock()
	b.log.disk.(*tampered).before = before
}

var errTampered = errors.New("tampered")

// once returns a function that calls do ahead of the first operation op on a file with the given
// suffix.
func once(op, suffix string, do func() error) func(op, name string) error {
	done := false
	return func(o, name string) error {
		if done || o != op || !strings.HasSuffix(name, suffix) {
			return nil
		}
		done = true
		return do()
	}
}

var shared = backend.PartID{Scope: backend.Global}

// writes returns an op that replaces the part with the given ID and outlives the process.
func writes(id backend.PartID, version int64) *backend.Op {
	return &backend.Op{Lasts: true, Writes: []backend.Write{{ID: id, Version: version, Data: []byte(`{"n":` + strconv.FormatInt(version+1, 10) + `}`)}}}
}

// does commits ops and fails the test unless all of them succeed.
func does(t *testing.T, b *Backend, ops ...*backend.Op) {
	t.Helper()
	if err := commit(t.Context(), b, ops...); err != nil {
		t.Fatal(err)
	}
}

func has(t *testing.T, b *Backend, id backend.PartID, version int64) {
	t.Helper()
	if v, err := b.Versions(t.Context(), id); err != nil || v[0] != version {
		t.Fatalf("version %v (%v), want %d", v, err, version)
	}
}

// rollNow rotates the segment, as a commit does when it fills the segment.
func (b *Backend) rollNow(t *testing.T) {
	t.Helper()
	b.appending.Lock()
	defer b.appending.Unlock()
	if err := b.lockProcess(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.rotate(false); err != nil {
		t.Fatal(err)
	}
}

func place1(t *testing.T, b *Backend) (at sqlite.Place) {
	t.Helper()
	err := b.checkpoint.Read(func(r sqlite.Reading) (err error) {
		at, err = r.Place()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// TestSealedUnderCheckpoint checks recovery if the checkpoint names a segment that has been sealed,
// because the segment was renamed while it was folded up to its end. The next start then continues
// with the following segment.
func TestSealedUnderCheckpoint(t *testing.T) {
	for _, more := range []int64{0, 1} { // number of later segments that are renamed as well
		path := place(t)
		b := open(t, Options{Path: path, disk: &tampered{}})
		does(t, b, writes(shared, 0))
		b.tamper(once("list", "", func() error {
			b.rollNow(t)
			for i := range more {
				does(t, b, writes(shared, 1+i))
				b.rollNow(t)
			}
			return nil
		}))
		if err := b.fold(); err != nil {
			t.Fatal(err)
		}
		b.abandon()
		has(t, open(t, Options{Path: path}), shared, 1+more)
	}
}

// TestSealedBeforeRead checks that a process can open the state if, after it reads the checkpoint
// but before it reads the log, another process seals the segment that the checkpoint names.
func TestSealedBeforeRead(t *testing.T) {
	path := place(t)
	a := open(t, Options{Path: path})
	does(t, a, writes(shared, 0))
	if err := a.fold(); err != nil {
		t.Fatal(err)
	}
	does(t, a, writes(shared, 1))
	a.rollNow(t)
	does(t, a, writes(shared, 2))
	b := open(t, Options{Path: path, disk: &tampered{before: once("stat", logSuffix, a.fold)}})
	has(t, b, shared, 3)
}

// TestKilledBetweenNames checks recovery if a process ends between renaming the first segment and
// giving the next segment its name, and nothing has ever been folded.
func TestKilledBetweenNames(t *testing.T) {
	path := place(t)
	a := open(t, Options{Path: path, disk: &tampered{}})
	does(t, a, writes(shared, 0))
	a.tamper(func(op, name string) error {
		if op == "rename" && strings.HasSuffix(name, logSuffix) {
			return errTampered
		}
		return nil
	})
	a.mu.Lock()
	if err := a.rotate(false); !errors.Is(err, errTampered) {
		t.Error(err)
	}
	a.mu.Unlock()
	a.abandon()
	if _, err := os.Stat(path + logSuffix); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	b := open(t, Options{Path: path})
	has(t, b, shared, 1)
	does(t, b, writes(shared, 1))
}

// TestUsedAndFolded checks that an approval cannot be used twice, even if its first use is folded
// between the read of the checkpoint and the check of the second use.
func TestUsedAndFolded(t *testing.T) {
	b := open(t, Options{Path: place(t)})
	now := time.Now()
	if _, err := b.PutApproval(t.Context(), backend.Approval{ID: "a", Key: "k", State: backend.Approved, Created: now, Expires: now.Add(time.Hour), Data: []byte(`{}`)}); err != nil {
		t.Fatal(err)
	}
	does(t, b, &backend.Op{Reserve: true, Uses: "a", Time: now})
	again := []*backend.Op{{Reserve: true, Uses: "a", Time: now}}
	b.appending.Lock()
	defer b.appending.Unlock()
	if err := b.lockProcess(t.Context()); err != nil {
		t.Fatal(err)
	}
	w := b.newBatch()
	if err := errors.Join(w.fetch(again), b.fold(), w.append(again)); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(again[0].Err, backend.ErrUsed) {
		t.Errorf("used again: %v", again[0].Err)
	}
}

// TestForgottenVersion checks that a part whose version is unknown does not count as missing. In
// the test, so many versions are cached that some are evicted between the read of the checkpoint
// and the check of the versions.
func TestForgottenVersion(t *testing.T) {
	b := open(t, Options{Path: place(t)})
	does(t, b, writes(shared, 0))
	if err := b.fold(); err != nil {
		t.Fatal(err)
	}
	b.mu.Lock()
	clear(b.image.versions)
	for i := range maxVersions - 1 {
		b.image.versions[backend.PartID{Scope: backend.Session, Name: strconv.Itoa(i)}] = 1
	}
	b.mu.Unlock()
	ops := []*backend.Op{writes(shared, 0), writes(backend.PartID{Scope: backend.Principal}, 0)}
	if err := b.Commit(t.Context(), ops); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(ops[0].Err, backend.ErrStale) || ops[1].Err != nil {
		t.Error(ops[0].Err, ops[1].Err)
	}
	has(t, b, shared, 1)
	does(t, b, writes(shared, 1))
}

// TestFlushThatFailed checks that data lost in a failed flush is not folded, even if the next flush
// succeeds, because that flush does not cover the lost data.
func TestFlushThatFailed(t *testing.T) {
	b := open(t, Options{Path: place(t), disk: &tampered{}})
	does(t, b, writes(shared, 0))
	b.tamper(once("sync", logSuffix, func() error { return errTampered }))
	if err := b.fold(); !errors.Is(err, errTampered) {
		t.Fatal(err)
	}
	if err := b.fold(); err == nil || place1(t, b).Step != 0 {
		t.Errorf("folded up to step %d: %v", place1(t, b).Step, err)
	}
	does(t, b, writes(shared, 1))
	if at := place1(t, b); at.Step != 1 {
		t.Errorf("folded up to step %d before the next segment is begun", at.Step)
	}
	if err := b.fold(); err != nil || place1(t, b).Segment != 1 {
		t.Error(place1(t, b), err)
	}
}

// TestRemovedChain checks that a process that has yet to fold the end of a chain does not restore
// the chain if another process has removed it.
func TestRemovedChain(t *testing.T) {
	path := place(t)
	a := open(t, Options{Path: path, Writer: "a"})
	does(t, a, &backend.Op{Events: []backend.Event{{Time: time.Now(), Object: []byte(`{}`)}}})
	b, c := open(t, Options{Path: path, Writer: "b"}), open(t, Options{Path: path, Writer: "c"})
	if err := a.fold(); err != nil {
		t.Fatal(err)
	}
	if n, err := b.RemoveRecords(t.Context(), "a", 1, 10); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	does(t, c, writes(shared, 0))
	if err := c.fold(); err != nil {
		t.Fatal(err)
	}
	heads, err := c.Heads(t.Context())
	if err != nil || len(heads) != 0 {
		t.Error(heads, err)
	}
}

// TestBehindBetweenNames checks that a process still in an earlier segment can continue after
// another process has ended in the middle of a rotation.
func TestBehindBetweenNames(t *testing.T) {
	for _, sealed := range []bool{false, true} {
		path := place(t)
		d := &tampered{}
		a, b := open(t, Options{Path: path, disk: d}), open(t, Options{Path: path})
		does(t, b, writes(shared, 0)) // leaves b in the first segment
		b.rest()
		for n := range 3 {
			does(t, a, writes(shared, int64(1+n)))
			if n < 2 {
				a.rollNow(t)
			}
		}
		if sealed {
			if err := a.fold(); err != nil {
				t.Fatal(err)
			}
		}
		a.tamper(once("rename", logSuffix, func() error {
			d.before = func(string, string) error { return errTampered } // all further operations fail
			return errTampered
		}))
		a.lockAppend()
		a.lockImage()
		err := a.rotate(false)
		a.unlockImage()
		a.unlockAppend()
		if !errors.Is(err, errTampered) {
			t.Fatal(err)
		}
		a.abandon()
		if _, err := os.Lstat(path + logSuffix); err == nil {
			t.Fatal("the log has its name")
		}
		if !sealed {
			has(t, b, shared, 4)
		}
		does(t, b, writes(shared, 4))
		has(t, b, shared, 5)
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestReadDuringRotation checks that a reader gets all records that existed when it began, although
// segments are renamed, sealed and removed while it reads.
func TestReadDuringRotation(t *testing.T) {
	t.Parallel()
	b := open(t, Options{Path: place(t), segment: 700})
	add := func(n int) {
		t.Helper()
		for range n {
			op := &backend.Op{Events: []backend.Event{{Time: time.Now(), Object: []byte(`{"event":"outcome"}`)}}}
			if err := commit(t.Context(), b, op); err != nil {
				t.Fatal(err)
			}
		}
	}
	add(10)
	for _, q := range []backend.Query{{}, {Writer: b.Writer()}, {Writer: b.Writer(), After: 3}} {
		last := q.After
		for r, err := range b.Records(t.Context(), q) {
			if err != nil || r.Seq != last+1 {
				t.Fatalf("%+v: record %d follows record %d, %v", q, r.Seq, last, err)
			}
			if last = r.Seq; r.Seq < q.After+9 {
				add(7)
				if err := b.fold(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if last < 10 {
			t.Errorf("%+v: it ended with record %d", q, last)
		}
	}
}
