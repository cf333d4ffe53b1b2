package trail_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/serve/audit/trail"
	"github.com/petrigate/petrigate/internal/serve/store/backend"
	"github.com/petrigate/petrigate/internal/serve/store/postgres"
	"github.com/petrigate/petrigate/internal/serve/store/postgres/postgrestest"
	"github.com/petrigate/petrigate/internal/serve/store/sqlite"
)

// TestChangedColumns: a column of a real database that was changed is found, though the
// chain is sound.
func TestChangedColumns(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "state.db")
		b, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
		changedColumns(t, b, err, func(statement string) {
			db, err := sql.Open("sqlite", path)
			if err == nil {
				_, err = db.ExecContext(t.Context(), strings.ReplaceAll(statement, "$RECORD", "record"))
			}
			if err != nil {
				t.Fatal(err)
			}
			_ = db.Close()
		}, []change{
			{"session = 'other'", "session = 's'", `record 2: its column session has "other", and the record itself "s": the column was changed`},
			{"time = time - 3600000000", "time = time + 3600000000", "record 2: its column time has 2026-11-23T11:00:01Z, before the 2026-11-23T12:00:01Z of the record itself: the column was changed"},
			{"time = time + 3600000000", "time = time - 3600000000", "record 3: its column late does not follow from the times of the records before it: a column was changed, or a record was removed"},
			{"late = -3600000000", "late = 0", "record 2: its column late does not follow"},
		})
	})
	t.Run("postgres", func(t *testing.T) {
		dsn := postgrestest.Schema(t)
		b, err := postgres.Open(t.Context(), postgres.Options{DSN: dsn})
		changedColumns(t, b, err, func(statement string) {
			postgrestest.Run(t, dsn, strings.ReplaceAll(statement, "$RECORD", "petrigate_record"))
		}, []change{
			{"session = 'other'", "session = 's'", `record 2: its column session has "other", and the record itself "s": the column was changed`},
			{"time = time - interval '1 hour'", "time = time + interval '1 hour'", "record 2: its column time has 2026-11-23T11:00:01Z, before the 2026-11-23T12:00:01Z of the record itself: the column was changed"},
		})
	})
}

// A change of the second record of three, how it is taken back, and what is found.
type change struct{ set, back, want string }

func changedColumns(t *testing.T, b backend.Backend, err error, run func(statement string), changes []change) {
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
		run("UPDATE $RECORD SET " + c.set + " WHERE seq = 2")
		if got := verify(); !strings.HasPrefix(got, c.want) || strings.Count(got, "\n") != 1 {
			t.Errorf("%s: found %q, want %q", c.set, got, c.want)
		}
		run("UPDATE $RECORD SET " + c.back + " WHERE seq = 2")
		if got := verify(); got != "" {
			t.Errorf("%s, and taken back: found %q", c.set, got)
		}
	}
}
