package trail_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/journal"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres/postgrestest"
)

// TestDatabases checks records that two processes have written to a real database: the newest are
// read from the end, in commit order, and those of the other process are read once.
func TestDatabases(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "state.db")
		bothRead(t, func() (backend.Backend, error) { return journal.Open(t.Context(), journal.Options{Path: path}) })
	})
	t.Run("postgres", func(t *testing.T) {
		dsn := postgrestest.NewSchema(t)
		bothRead(t, func() (backend.Backend, error) { return postgres.Open(t.Context(), postgres.Options{DSN: dsn}) })
	})
}

func bothRead(t *testing.T, open func() (backend.Backend, error)) {
	var both [2]backend.Backend
	for i := range both {
		b, err := open()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.Close() })
		both[i] = b
	}
	n := 0
	write := func(times int) {
		t.Helper()
		for range times {
			e := backend.Event{Time: time.Unix(int64(n), 0), Session: "s", Object: fmt.Appendf(nil, `{"event":"outcome","session":"s","call":%d}`, n)}
			op := &backend.Op{Session: "s", Time: e.Time, Events: []backend.Event{e}}
			if err := both[n%2].Commit(t.Context(), []*backend.Op{op}); err != nil || op.Err != nil {
				t.Fatal(err, op.Err)
			}
			n++
		}
	}
	others := trail.Database{Backend: both[0]}.Others(t.Context())
	if first, err := others.Read(t.Context(), 100); err != nil || len(first) != 0 {
		t.Fatalf("%v, %v", first, err)
	}
	write(100)
	for _, most := range []int{1, 9, 99, 1000} {
		for _, b := range both {
			got, err := trail.Recent(t.Context(), trail.Database{Backend: b}, most, 1<<20)
			calls(t, fmt.Sprint("newest ", most), got, err, max(0, n-most), 1, n)
		}
	}
	got, err := others.Read(t.Context(), 1000)
	calls(t, "others", got, err, 1, 2, n)
	write(4)
	got, err = others.Read(t.Context(), 1000)
	calls(t, "others then", got, err, n-3, 2, n)
}

// calls fails unless the records are those of the calls from, from+step and so on, below the end.
func calls(t *testing.T, what string, got []trail.Record, err error, from, step, end int) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
	at := from
	for _, r := range got {
		e, err := r.Entry()
		if err != nil || e.Event != "outcome" {
			continue // the start of a process
		}
		if int(e.Call) != at {
			t.Errorf("%s: call %d, want %d", what, e.Call, at)
			return
		}
		at += step
	}
	if at < end || at >= end+step {
		t.Errorf("%s: the records end before call %d, want %d", what, at, end)
	}
}
