package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/petrigate/petrigate/internal/serve/store/backend"
)

// A trial is a database that is in use and then has something happen to it.
type trial struct {
	*testing.T
	path    string
	backend *Backend
	version int64
}

func try(t *testing.T) *trial {
	path := place(t)
	return &trial{T: t, path: path, backend: open(t, Options{Path: path})}
}

// commit makes steps of one session, each with a record.
func (t *trial) commit(steps int) error {
	for range steps {
		op := sample("s", t.version)
		if err := t.backend.Commit(t.Context(), []*backend.Op{op}); err != nil {
			return err
		}
		if op.Err != nil {
			return op.Err
		}
		t.version++
	}
	return nil
}

// good: steps are committed.
func (t *trial) good(steps int) {
	t.Helper()
	if err := t.commit(steps); err != nil {
		t.Fatal(err)
	}
	if err := t.backend.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// refused: nothing is committed, for a reason that says this.
func (t *trial) refused(want string) {
	t.Helper()
	for range 2 {
		if err := t.commit(1); err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("%v, want %q", err, want)
		}
	}
	if err := t.backend.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
		t.Fatalf("Ready: %v, want %q", err, want)
	}
}

// whole: the database has what was committed, and nothing else.
func (t *trial) whole() {
	t.Helper()
	p, err := t.backend.Load(t.Context(), backend.PartID{Scope: backend.Session, Name: "s"})
	if err != nil || p[0].Version != t.version {
		t.Fatalf("version %d, %v; want %d", p[0].Version, err, t.version)
	}
	n := int64(0)
	for r, err := range t.backend.Records(t.Context(), backend.Query{Writer: t.backend.Writer()}) {
		if n++; err != nil || r.Seq != uint64(n) {
			t.Fatal(r.Seq, err)
		}
	}
	if n != t.version {
		t.Fatalf("%d records of %d steps", n, t.version)
	}
}

// must is for what the test itself does.
func (t *trial) must(err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (t *trial) copy(from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	t.must(err)
	t.must(os.WriteFile(to, data, 0o600))
}

// settle brings all that was committed into the file itself.
func (t *trial) settle() {
	t.Helper()
	l, err := usual.dial(t.path, writing)
	t.must(err)
	t.must(errors.Join(l.run("PRAGMA wal_checkpoint(TRUNCATE)"), l.close()))
}

func TestFull(outer *testing.T) {
	t := try(outer)
	t.good(5)
	pages, err := t.backend.scribe.link.number("PRAGMA page_count")
	t.must(err)
	t.must(t.backend.scribe.link.run("PRAGMA max_page_count = " + strconv.FormatInt(pages, 10)))
	for err == nil {
		err = t.commit(1) // what there is of pages is used up first
	}
	if !strings.Contains(err.Error(), "the disk is full") {
		t.Fatal(err)
	}
	t.whole()
	t.must(t.backend.scribe.link.run("PRAGMA max_page_count = 1000000"))
	t.good(5)
	t.whole()
}

// TestLocked: another program has the database locked, for longer than anybody waits.
func TestLocked(outer *testing.T) {
	t := try(outer)
	t.good(1)
	t.must(t.backend.scribe.link.run("PRAGMA busy_timeout = 20"))
	l, err := usual.dial(t.path, writing)
	t.must(err)
	defer l.close()
	t.must(l.run("BEGIN IMMEDIATE"))
	t.refused("another program has it locked")
	waits := func(want int64) {
		t.Helper()
		if n, err := t.backend.scribe.link.number("PRAGMA busy_timeout"); err != nil || n != want {
			t.Errorf("the next one waits for %d ms, want %d: %v", n, want, err)
		}
	}
	waits(hurried)
	t.refused("another program has it locked")
	t.must(l.run("ROLLBACK"))
	t.good(1)
	waits(patient)
	t.whole()
}

// TestTurn: a process that was stopped while it had its turn keeps nobody from writing.
func TestTurn(outer *testing.T) {
	t := try(outer)
	t.backend.scribe.turns.patience = time.Millisecond
	for _, suffix := range []string{"-turn", "-next"} {
		f := flock.New(t.path + suffix)
		t.must(f.Lock())
		t.good(3)
		t.must(f.Close())
	}
	t.good(1)
	t.whole()
	if left := t.backend.scribe.turns.left; left != nil {
		<-left // it has a turn now, and makes no file after the test
	}
}

func TestRemoved(outer *testing.T) {
	t := try(outer)
	t.good(3)
	t.must(os.Rename(t.path, t.path+".away"))
	t.refused("the file was removed while it was in use")
	if _, err := t.backend.Heads(t.Context()); err == nil {
		t.Error("it is read")
	}
	t.must(os.Rename(t.path+".away", t.path))
	t.good(3)
	t.whole()
}

// TestReplaced: another file has the name.
func TestReplaced(outer *testing.T) {
	t := try(outer)
	t.good(3)
	t.settle()
	t.copy(t.path, t.path+".old")
	t.good(40)
	t.settle()
	t.must(os.Rename(t.path, t.path+".away"))

	t.must(os.WriteFile(t.path, filled(10000), 0o600))
	t.refused("it is no database")
	t.must(os.WriteFile(t.path, nil, 0o600))
	t.refused("the database is an older copy of itself: record 43 of writer " + t.backend.Writer() + " is missing")
	t.must(os.Rename(t.path+".old", t.path))
	t.refused("the database is an older copy of itself: record 43 of writer " + t.backend.Writer() + " is missing")

	t.copy(t.path+".away", t.path+".new") // the newest, by another copy
	t.must(os.Rename(t.path+".new", t.path))
	t.good(3)
	t.whole()
}

// TestRestartedOnAnOldCopy: an old copy that a process has met is refused by the next one, too,
// however short the first one ran.
func TestRestartedOnAnOldCopy(outer *testing.T) {
	t := try(outer)
	t.good(3)
	t.settle()
	t.copy(t.path, t.path+".old")
	t.good(40)
	t.settle()
	t.must(os.Rename(t.path, t.path+".away"))
	t.must(os.Rename(t.path+".old", t.path))
	want := "record 43 of writer " + t.backend.Writer() + " is missing"
	t.refused(want)
	_ = t.backend.Close()
	if b, err := Open(outer.Context(), Options{Path: t.path}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, %v", b, err)
	}
	t.must(os.Rename(t.path+".away", t.path))
	t.backend = open(outer, Options{Path: t.path})
	t.good(3)
}

// TestOverwritten: an old copy is written into the file itself, which SQLite does not
// notice.
func TestOverwritten(outer *testing.T) {
	t := try(outer)
	t.good(3)
	t.settle()
	t.copy(t.path, t.path+".old")
	t.good(40)
	t.settle()
	t.copy(t.path, t.path+".new")
	t.good(1)
	t.copy(t.path+".old", t.path)
	t.refused("the database is an older copy of itself: the file was written over")
	t.copy(t.path+".new", t.path)
	t.good(3)
	t.whole()
}

// TestWitnessAtStart: a process that is killed soon after its first commit has left a witness.
func TestWitnessAtStart(outer *testing.T) {
	t := try(outer)
	t.good(1)
	content, err := readTestimony(t.path + witnessSuffix)
	t.must(err)
	if len(content.Heads) != 1 || content.Heads[0].Writer != t.backend.Writer() || content.Heads[0].Seq == 0 {
		t.Errorf("%+v", content)
	}
}

// TestRestored: an old copy was put in the place of the file while nobody used it.
func TestRestored(outer *testing.T) {
	t := try(outer)
	t.good(3)
	t.must(t.backend.Close())
	t.copy(t.path, t.path+".old")
	first := t.backend.Writer()
	t.backend = open(outer, Options{Path: t.path})
	t.good(1)
	t.must(t.backend.Close())
	t.copy(t.path, t.path+".new")

	fails := func(want string) {
		t.Helper()
		if _, err := Open(t.Context(), Options{Path: t.path}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	missing := "record 1 of writer " + t.backend.Writer() + " is missing, which was committed; put the newer copy back"
	t.copy(t.path+".old", t.path)
	fails(missing)
	t.must(os.Remove(t.path))
	fails(missing)
	t.must(os.WriteFile(t.path, nil, 0o600))
	fails(missing)
	t.must(os.WriteFile(t.path, filled(10000), 0o600))
	fails("it is no database")
	t.copy(t.path+".new", t.path)
	t.must(open(outer, Options{Path: t.path}).Close())
	t.must(os.WriteFile(t.path+witnessSuffix, []byte("{"), 0o600))
	fails("if the database is the newest, remove that file")

	t.copy(t.path+".old", t.path) // and an operator who knows that something is lost
	t.must(os.Remove(t.path + witnessSuffix))
	t.backend = open(outer, Options{Path: t.path})
	heads, err := t.backend.Heads(t.Context())
	if err != nil || len(heads) != 1 || heads[0].Writer != first {
		t.Error(heads, err)
	}
}

// TestDamaged: pages of the file are garbage.
func TestDamaged(outer *testing.T) {
	t := try(outer)
	t.good(100)
	t.must(t.backend.Close())
	data, err := os.ReadFile(t.path)
	t.must(err)
	copy(data[4096:], strings.Repeat("garbage ", (len(data)-4096)/8))
	t.must(os.WriteFile(t.path, data, 0o600))
	b, err := Open(t.Context(), Options{Path: t.path})
	if err == nil {
		outer.Cleanup(func() { _ = b.Close() })
		t.backend = b
		err = t.commit(1)
	}
	if err == nil || !strings.Contains(err.Error(), "it is damaged; put a good copy in its place") {
		t.Error(err)
	}
}

// TestUnclosed: what another process has committed is there, and no file is left that nobody needs.
func TestUnclosed(outer *testing.T) {
	t := try(outer)
	t.good(7)
	next := open(outer, Options{Path: t.path})
	p, err := next.Load(t.Context(), backend.PartID{Scope: backend.Session, Name: "s"})
	if err != nil || p[0].Version != 7 {
		t.Error(p, err)
	}
	left, err := filepath.Glob(filepath.Dir(t.path) + "/*")
	t.must(err)
	if len(left) != 6 { // with the witness
		t.Error(left)
	}
}
