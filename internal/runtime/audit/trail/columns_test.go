package trail_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/journal"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres/postgrestest"
)

// TestChangedColumns checks that a changed column in a real database is found although the chain is
// valid.
func TestChangedColumns(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "state.db")
		b, err := journal.Open(t.Context(), journal.Options{Path: path})
		second := time.Date(2026, 11, 23, 12, 0, 1, 0, time.UTC)
		const also = "state.db-log: a line after step 1 was changed\n"
		changedColumns(t, b, err, also, func(set string) { replaceIn(t, path+"-log", set) }, []change{
			{`"of":"s" "of":"t"`, `"of":"t" "of":"s"`, `record 2: its session column is "t", but the record has "s": the column was changed`},
			{fmt.Sprint(second.UnixMicro(), " ", second.Add(-time.Hour).UnixMicro()), fmt.Sprint(second.Add(-time.Hour).UnixMicro(), " ", second.UnixMicro()),
				"record 2: its time column is 2026-11-23T11:00:01Z, before the record's 2026-11-23T12:00:01Z: the column was changed"},
		})
	})
	t.Run("postgres", func(t *testing.T) {
		dsn := postgrestest.NewSchema(t)
		b, err := postgres.Open(t.Context(), postgres.Options{DSN: dsn})
		changedColumns(t, b, err, "", func(set string) {
			postgrestest.Run(t, dsn, "UPDATE petrigate_record SET "+set+" WHERE seq = 2")
		}, []change{
			{"session = 'other'", "session = 's'", `record 2: its session column is "other", but the record has "s": the column was changed`},
			{"time = time - interval '1 hour'", "time = time + interval '1 hour'", "record 2: its time column is 2026-11-23T11:00:01Z, before the record's 2026-11-23T12:00:01Z: the column was changed"},
		})
	})
}

// replaceIn replaces a text in the line of a log's second record.
func replaceIn(t *testing.T, name, set string) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	from, to, _ := strings.Cut(set, " ")
	for line := range bytes.Lines(data) {
		if bytes.Contains(line, []byte(`"seq":2,`)) {
			copy(line, bytes.Replace(line, []byte(from), []byte(to), 1)) // both texts have the same length
		}
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(data, 0); err != nil || f.Close() != nil {
		t.Fatal(err)
	}
}

// A change of the second of three records, its reversal, and the expected fault.
type change struct{ set, back, want string }

func changedColumns(t *testing.T, b backend.Backend, err error, also string, set func(to string), changes []change) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	for n := range 3 {
		at := time.Date(2026, 11, 23, 12, 0, n, 0, time.UTC)
		e := backend.Event{Time: at, Session: "s", Object: fmt.Appendf(nil, `{"time":%q,"event":"outcome","session":"s","call":%d}`, at.Format(time.RFC3339Nano), n)}
		op := &backend.Op{Session: "s", Time: at, Events: []backend.Event{e}}
		if err := b.Commit(t.Context(), []*backend.Op{op}); err != nil || op.Err != nil {
			t.Fatal(err, op.Err)
		}
	}
	verify := func() string {
		t.Helper()
		r, err := trail.VerifyChains(t.Context(), trail.Database{Backend: b})
		if err != nil {
			t.Fatal(err)
		}
		found := ""
		for _, f := range r.Faults {
			found += strings.TrimPrefix(f.String(), "chain "+b.Writer()+", ") + "\n"
		}
		return found
	}
	for _, c := range changes {
		set(c.set)
		if got := verify(); !strings.HasPrefix(got, c.want) || !strings.HasSuffix(got, "\n"+also) || strings.Count(got, "\n") != 1+strings.Count(also, "\n") {
			t.Errorf("%s: found %q, want %q", c.set, got, c.want)
		}
		set(c.back)
		if got := verify(); got != "" {
			t.Errorf("%s, and taken back: found %q", c.set, got)
		}
	}
}
