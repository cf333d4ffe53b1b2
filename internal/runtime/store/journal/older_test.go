package journal

import (
	"compress/gzip"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/soak"
)

// TestOlderSchemasAreConverted checks that a database of each older schema, which stores records in
// tables, is converted with all its contents.
func TestOlderSchemasAreConverted(t *testing.T) {
	for version := 1; version <= 3; version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			path := place(t)
			unpack(t, version, path)
			older(t, path)
			older(t, path) // as another process would after the conversion
			tidy(t, path)
		})
	}
}

func older(t *testing.T, path string) {
	t.Helper()
	b := open(t, Options{Path: path})
	p, err := b.Load(t.Context(), backend.PartID{Scope: backend.Session, Name: "s"})
	if err != nil || p[0].Version != 3 || string(p[0].Data) != `{"v":2}` || string(p[0].Values["k"]) != `{"k":1}` {
		t.Error(p, err)
	}
	heads, err := b.Heads(t.Context())
	if err != nil || len(heads) != 1 || heads[0].Seq != 3 || heads[0].Writer != "first" || string(heads[0].Object) != `{"v":2}` {
		t.Error(heads, err)
	}
	all := linked(t, b)
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for i, r := range all {
		if r.Session != "s" || !r.Time.Equal(at) || string(r.Object) != fmt.Sprintf(`{"v":%d}`, i) {
			t.Errorf("%+v", r)
		}
	}
	if len(all) != 3 {
		t.Errorf("%d records", len(all))
	}
	asked, err := b.Approvals(t.Context(), "", "", time.Time{})
	if err != nil || len(asked) != 1 || asked[0].ID != "q" {
		t.Error(asked, err)
	}
	if stops, err := b.Stops(t.Context()); err != nil || len(stops) != 1 || stops[0].Session != "other" {
		t.Error(stops, err)
	}
	other := backend.PartID{Scope: backend.Session, Name: b.Writer()}
	does(t, b, writes(other, 0), &backend.Op{Writes: []backend.Write{{ID: p[0].ID, Version: 3, Read: true}}})
	early := &backend.Op{Reserve: true, Time: at.Add(-time.Hour)}
	if err := b.Commit(t.Context(), []*backend.Op{early}); err != nil || !errors.Is(early.Err, backend.ErrClock) {
		t.Error(err, early.Err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// unpack writes a database that has the given older schema.
func unpack(t testing.TB, version int, path string) {
	t.Helper()
	f, err := os.Open(fmt.Sprintf("../sqlite/testdata/%d.db.gz", version))
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

// large creates a database with the third schema. It contains three records, followed by the given
// number of records, which three processes wrote in turn.
func large(t testing.TB, path string, records int) {
	t.Helper()
	unpack(t, 3, path)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	must := func(_ sql.Result, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	const writers = 3
	for w := range writers {
		must(tx.Exec("INSERT INTO writer (name) VALUES (?)", fmt.Sprint("old", w)))
	}
	add, err := tx.Prepare("INSERT INTO record (writer, seq, hash, time, session, object, late) SELECT id, ?, ?, ?, 's', ?, 0 FROM writer WHERE name = ?")
	if err != nil {
		t.Fatal(err)
	}
	var hashes [writers][32]byte
	at := time.Date(2026, 11, 23, 12, 0, 1, 0, time.UTC)
	for n := range records {
		w, seq := n%writers, uint64(n/writers+1)
		object := fmt.Appendf(nil, `{"n":%d,"x":"%s"}`, n, strings.Repeat("x", 400))
		hashes[w] = audit.Link(hashes[w], seq, object)
		must(add.Exec(int64(seq), hashes[w][:], at.Add(time.Duration(n)*time.Millisecond).UnixMicro(), string(object), fmt.Sprint("old", w)))
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

// TestLargeOlderDatabase checks that many records are converted, to several files, and that their
// chains have the order of the commits.
func TestLargeOlderDatabase(t *testing.T) {
	t.Parallel()
	soak.Bulk(t)
	records := 100_000
	if testing.Short() || os.Getenv(soak.Variable) == "" {
		records = 45_000
	}
	path := place(t)
	large(t, path, records)
	b := open(t, Options{Path: path})
	larger(t, b, records)
	does(t, b, sample("new", 0))
	if n := len(linked(t, b)); n != records+4 {
		t.Errorf("%d records", n)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	tidy(t, path)
	if info, err := os.Stat(path); err != nil || info.Size() > 1<<20 {
		t.Errorf("the database has %d bytes, %v", info.Size(), err)
	}
}

func larger(t *testing.T, b *Backend, records int) {
	t.Helper()
	all := linked(t, b)
	if len(all) != records+3 {
		t.Fatalf("%d records, want %d", len(all), records+3)
	}
	for n := range records {
		if r := &all[n+3]; !strings.HasPrefix(string(r.Object), fmt.Sprintf(`{"n":%d,`, n)) || r.Writer != fmt.Sprint("old", n%3) {
			t.Fatalf("record %d is %.20s of %s", n, r.Object, r.Writer)
		}
	}
}

// TestInterruptedConversion checks that, if a process ends while it converts a database, the next
// process starts the conversion again.
func TestInterruptedConversion(t *testing.T) {
	t.Parallel()
	soak.Bulk(t)
	const records = 40_000 // enough for several files
	path := place(t)
	large(t, path, records)
	for _, c := range []struct{ op, suffix string }{
		{"open", unsealedSuffix}, {"rename", "-log-00000000000000000000"}, {"rename", "-log-00000000000000000001"}, {"remove", nextSuffix}, {"rename", logSuffix},
	} {
		d := &tampered{before: once(c.op, c.suffix, func() error { return errTampered })}
		b, err := Open(t.Context(), Options{Path: path, disk: d})
		if err == nil {
			_ = b.Close()
		}
		if !errors.Is(err, errTampered) {
			t.Fatalf("%s %s: %v", c.op, c.suffix, err)
		}
	}
	b := open(t, Options{Path: path})
	larger(t, b, records)
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	tidy(t, path)
}

// TestNewerSchemasAreRefused checks that a database written by a newer petrigate or by another
// program is refused and left unchanged.
func TestNewerSchemasAreRefused(outer *testing.T) {
	for text, want := range map[string]string{
		"PRAGMA user_version = 99":                              "a newer petrigate wrote it (schema 99; this one supports 4): run the newer one",
		"PRAGMA application_id = 1":                             "it is another program's database",
		"PRAGMA application_id = 0; CREATE TABLE other (a INT)": "it is another program's database",
	} {
		t := try(outer)
		t.good(1)
		t.must(t.backend.fold())
		db, err := sql.Open("sqlite", t.path)
		t.must(err)
		_, err = db.Exec(text)
		t.must(errors.Join(err, db.Close()))
		if strings.Contains(want, "newer") { // a process that already has the database open must also refuse it
			t.must(t.commit(1))
			if err := t.backend.fold(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("a process that has it open says %v, want %q", err, want)
			}
		}
		t.backend.abandon()
		before, err := os.ReadFile(t.path)
		t.must(err)
		t.fails(want)
		if _, err := Open(outer.Context(), Options{Path: t.path}); !errors.Is(err, backend.ErrUnusable) {
			t.Errorf("%v is mended by waiting", err)
		}
		if after, err := os.ReadFile(t.path); err != nil || string(after) != string(before) {
			t.Errorf("%s: it was changed, %v", text, err)
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
