package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// open opens a database in a new directory and closes it when the test ends.
func open(t *testing.T) (*Checkpoint, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "petrigate.db")
	if err := os.Chmod(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	c, err := Open(t.Context(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c, path
}

var session = backend.PartID{Scope: backend.Session, Name: "s"}

// fold folds from one step to another; afterwards the part has the given version.
func fold(t *testing.T, c *Checkpoint, from, to uint64) (Place, error) {
	t.Helper()
	var at Place
	if err := c.Read(func(r Reading) (err error) { at, err = r.Place(); return err }); err != nil {
		t.Fatal(err)
	}
	change := Change{Part: backend.Part{ID: session, Version: int64(to), Data: []byte(`{}`), Changed: time.Unix(int64(to), 0)}}
	f := &Fold{From: from, To: Place{ID: at.ID, Step: to, Hash: [32]byte{byte(to)}, Segment: 0, Offset: int64(to) * 100}, Parts: []Change{change}}
	return c.Fold(f)
}

// version returns the version of the part.
func version(t *testing.T, c *Checkpoint, want int64) {
	t.Helper()
	err := c.Read(func(r Reading) error {
		v, err := r.Version(session)
		if err == nil && v != want {
			t.Errorf("version %d, want %d", v, want)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestVersions(t *testing.T) {
	for version, ok := range map[string]bool{"3.51.2": false, "3.51.3": true, "3.9.9": false, "3.60.0": true, "4.0.0": true, "2.99.9": false, "3": false, "x": false, "3.51.x": false} {
		if err := checkVersion(version); (err == nil) != ok {
			t.Errorf("%s: %v", version, err)
		}
	}
}

// TestFold: a fold only advances the database: folded steps are not written again, and a fold with
// a gap before it is refused.
func TestFold(t *testing.T) {
	c, _ := open(t)
	for _, f := range []struct {
		from, to uint64
		at       uint64 // version afterwards; 0 if the fold is refused
		version  int64
	}{{0, 3, 3, 3}, {3, 5, 5, 5}, {3, 7, 7, 7}, {0, 4, 7, 7}, {7, 7, 7, 7}, {8, 9, 0, 7}, {7, 9, 9, 9}} {
		at, err := fold(t, c, f.from, f.to)
		if f.at == 0 {
			if !errors.Is(err, backend.ErrRolledBack) || !strings.Contains(err.Error(), "is at step 7, but was at 8; restore the newer copy") {
				t.Errorf("%+v: %v", f, err)
			}
		} else if err != nil || at.Step != f.at {
			t.Errorf("%+v: %+v, %v", f, at, err)
		}
		version(t, c, f.version)
	}
	other := &Fold{From: 9, To: Place{ID: "other", Step: 11}}
	if _, err := c.Fold(other); !errors.Is(err, backend.ErrRolledBack) || !strings.Contains(err.Error(), "restore its own database") {
		t.Error(err)
	}
}

// TestFull: the disk is full. When there is space again, folds succeed.
func TestFull(t *testing.T) {
	c, _ := open(t)
	pages, err := c.writer.link.number("PRAGMA page_count")
	if err = errors.Join(err, c.writer.link.run("PRAGMA max_page_count = "+strconv.FormatInt(pages, 10))); err != nil {
		t.Fatal(err)
	}
	if err := c.Try(1 << 20); err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Error(err)
	}
	if err := c.Try(100); err != nil {
		t.Error(err)
	}
	if err := errors.Join(c.writer.link.run("PRAGMA max_page_count = 1000000"), c.Try(1<<20)); err != nil {
		t.Error(err)
	}
	if _, err := fold(t, c, 0, 1); err != nil {
		t.Error(err)
	}
	version(t, c, 1)
}

// TestLocked: another program locks the database for longer than the timeout. The next transactions
// wait only briefly.
func TestLocked(t *testing.T) {
	c, path := open(t)
	if err := c.writer.link.run("PRAGMA busy_timeout = 20"); err != nil {
		t.Fatal(err)
	}
	l, err := defaultDialer.dial(path, writing)
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	if err := l.run("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	waits := func(want int64) {
		t.Helper()
		if n, err := c.writer.link.number("PRAGMA busy_timeout"); err != nil || n != want {
			t.Errorf("the next one waits for %d ms, want %d: %v", n, want, err)
		}
	}
	for range 2 {
		if _, err := fold(t, c, 0, 1); err == nil || !strings.Contains(err.Error(), "another program has locked it") {
			t.Error(err)
		}
		waits(busyTimeoutShort)
	}
	version(t, c, 0) // can be read nevertheless
	if err := l.run("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if _, err := fold(t, c, 0, 1); err != nil {
		t.Error(err)
	}
	waits(busyTimeout)
	version(t, c, 1)
}

// TestDamaged: pages of the file are garbage.
func TestDamaged(t *testing.T) {
	c, path := open(t)
	for n := range uint64(3) {
		if _, err := fold(t, c, n, n+1); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copy(data[4096:], strings.Repeat("garbage ", (len(data)-4096)/8))
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := Open(t.Context(), Options{Path: path})
	if err == nil {
		defer again.Close()
		err = again.Read(func(r Reading) error { _, err := r.Part(session); return err })
	}
	if err == nil || !strings.Contains(err.Error(), "it is damaged; restore a good copy") {
		t.Error(err)
	}
}

// TestOverwritten: an older copy is written over the file, which SQLite does not notice.
func TestOverwritten(t *testing.T) {
	c, path := open(t)
	copied := func(to string) {
		t.Helper()
		err := c.writer.link.run("PRAGMA wal_checkpoint(TRUNCATE)")
		data, more := os.ReadFile(path)
		if err := errors.Join(err, more, os.WriteFile(path+to, data, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	over := func(from string) {
		t.Helper()
		data, err := os.ReadFile(path + from)
		if err := errors.Join(err, os.WriteFile(path, data, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	copied(".old")
	for n := range uint64(40) {
		if _, err := fold(t, c, n, n+1); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Try(100_000); err != nil {
		t.Fatal(err)
	}
	copied(".new")
	if _, err := fold(t, c, 40, 41); err != nil {
		t.Fatal(err)
	}
	over(".old")
	if _, err := fold(t, c, 41, 42); !errors.Is(err, backend.ErrRolledBack) || !strings.Contains(err.Error(), "the file was overwritten; restore the newer copy") {
		t.Error(err)
	}
	over(".new")
	if _, err := fold(t, c, 41, 42); err != nil {
		t.Error(err)
	}
	version(t, c, 42)
}

// TestLog: other users could have written the write-ahead log of SQLite.
func TestLog(t *testing.T) {
	c, path := open(t)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(path+"-wal", nil, 0o600), os.Chmod(path+"-wal", 0o666)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Options{Path: path}); err == nil || !strings.Contains(err.Error(), `petrigate.db-wal": others may write it (mode 0666); chmod 600`) {
		t.Error(err)
	}
}
