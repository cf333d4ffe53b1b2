package sqlite

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/petrigate/petrigate/internal/serve/store/backend"
	"github.com/petrigate/petrigate/internal/serve/store/backend/backendtest"
)

func TestMain(m *testing.M) {
	runChild()
	goleak.VerifyTestMain(m)
}

// place is the path of a database in a directory of its own.
func place(t testing.TB) string {
	return filepath.Join(t.TempDir(), "state", "petrigate.db")
}

// open opens a database until the end of the test.
func open(t testing.TB, o Options) *Backend {
	t.Helper()
	b, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func TestBackend(t *testing.T) {
	for _, sync := range []string{Full, Normal} {
		t.Run(sync, func(t *testing.T) {
			backendtest.Run(t, func(t *testing.T) func() backend.Backend {
				path := place(t)
				return func() backend.Backend { return open(t, Options{Path: path, Sync: sync}) }
			})
		})
	}
}

// TestModes: nobody else can read what is kept, and what others can write is refused.
func TestModes(t *testing.T) {
	path := place(t)
	b := open(t, Options{Path: path})
	if _, err := b.Heads(t.Context()); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(files) != 5 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", f.Name(), info.Mode(), err)
		}
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory has mode %v, %v", info.Mode(), err)
	}
}

// TestRefused: files and directories that somebody else could have written.
func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(path string) error
		want    string
	}{
		"directory": {func(path string) error { return os.Chmod(filepath.Dir(path), 0o777) }, "others may write to the directory"},
		"sticky":    {func(path string) error { return os.Chmod(filepath.Dir(path), 0o777|os.ModeSticky) }, "others may write to the directory"},
		"file":      {func(path string) error { return os.Chmod(path, 0o660) }, "others may write it (mode 0660); chmod 600"},
		"log": {func(path string) error {
			return errors.Join(os.WriteFile(path+"-wal", nil, 0o600), os.Chmod(path+"-wal", 0o666))
		}, `petrigate.db-wal": others may write it`},
		"link": {func(path string) error {
			return errors.Join(os.Rename(path, path+"2"), os.Symlink(path+"2", path))
		}, "is no regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			path := place(t)
			if b := open(t, Options{Path: path}); b.Close() != nil {
				t.Fatal("not closed")
			}
			if err := c.prepare(path); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(t.Context(), Options{Path: path}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestVersions(t *testing.T) {
	for version, ok := range map[string]bool{"3.51.2": false, "3.51.3": true, "3.9.9": false, "3.60.0": true, "4.0.0": true, "2.99.9": false, "3": false, "x": false, "3.51.x": false} {
		if err := checkVersion(version); (err == nil) != ok {
			t.Errorf("%s: %v", version, err)
		}
	}
}

var fixture = flag.Bool("fixture", false, "write the file in testdata of the newest schema anew")

// fixtureOf is a database that a schema wrote.
func fixtureOf(version int) string { return fmt.Sprintf("testdata/%d.db.gz", version) }

// TestOlder: a database of each schema opens, with what was in it.
func TestOlder(t *testing.T) {
	if *fixture {
		write(t, place(t))
	}
	for version := range len(schema) {
		t.Run(fmt.Sprint(version+1), func(t *testing.T) { older(t, version+1) })
	}
}

func older(t *testing.T, version int) {
	path := place(t)
	unpack(t, version, path)
	b := open(t, Options{Path: path})
	p, err := b.Load(t.Context(), backend.PartID{Scope: backend.Session, Name: "s"})
	if err != nil || p[0].Version != 3 || string(p[0].Data) != `{"v":2}` || string(p[0].Values["k"]) != `{"k":1}` {
		t.Error(p, err)
	}
	heads, err := b.Heads(t.Context())
	if err != nil || len(heads) != 1 || heads[0].Seq != 3 || heads[0].Writer != "first" {
		t.Error(heads, err)
	}
	asked, err := b.Approvals(t.Context(), "", "", time.Time{})
	if err != nil || len(asked) != 1 || asked[0].ID != "q" {
		t.Error(asked, err)
	}
	if stops, err := b.Stops(t.Context()); err != nil || len(stops) != 1 || stops[0].Session != "other" {
		t.Error(stops, err)
	}
	op := &backend.Op{Writes: []backend.Write{{ID: p[0].ID, Version: 3, Data: []byte(`{}`)}}}
	if err := b.Commit(t.Context(), []*backend.Op{op}); err != nil || op.Err != nil {
		t.Error(err, op.Err)
	}
}

// write makes a database for TestOlder.
func write(t *testing.T, path string) {
	b := open(t, Options{Path: path, Writer: "first"})
	id := backend.PartID{Scope: backend.Session, Name: "s"}
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for i := range 3 {
		data := []byte(`{"v":` + strconv.Itoa(i) + `}`)
		op := &backend.Op{Time: at, Writes: []backend.Write{{ID: id, Version: int64(i), Data: data, Values: map[string][]byte{"k": []byte(`{"k":1}`)}}},
			Events: []backend.Event{{Time: at, Session: "s", Object: data}}}
		if err := b.Commit(t.Context(), []*backend.Op{op}); err != nil || op.Err != nil {
			t.Fatal(err, op.Err)
		}
	}
	_, err := b.PutApproval(t.Context(), backend.Approval{ID: "q", Key: "k", State: backend.Pending, Created: at, Expires: at, Data: []byte("{}")})
	err = errors.Join(err, b.SetStop(t.Context(), backend.Stop{Session: "other", Time: at}, true), b.Close())
	data, more := os.ReadFile(path)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, last := w.Write(data)
	if err := errors.Join(err, more, last, w.Close(), os.WriteFile(fixtureOf(len(schema)), packed.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func unpack(t *testing.T, version int, path string) {
	t.Helper()
	f, err := os.Open(fixtureOf(version))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err := errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// TestNewer: what a newer program, or another one, wrote is refused and left alone.
func TestNewer(t *testing.T) {
	for text, want := range map[string]string{
		"PRAGMA user_version = 99":                              "a newer petrigate wrote it (schema 99; this one knows 3)",
		"PRAGMA application_id = 1":                             "it is a database of another program",
		"PRAGMA application_id = 0; CREATE TABLE other (a INT)": "it is a database of another program",
	} {
		path := place(t)
		b := open(t, Options{Path: path})
		l, err := usual.dial(path, writing)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(l.run(text), l.close()); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), Options{Path: path}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if err := b.Commit(t.Context(), []*backend.Op{{}}); strings.Contains(want, "newer") && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("a process that has it open says %v, want %q", err, want)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{{}, {Path: place(t), Sync: "off"}} {
		if _, err := Open(t.Context(), o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}
