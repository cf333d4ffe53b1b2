package store_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/store"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres/postgrestest"
)

// BenchmarkSurvey measures the queries of the status command on a database with 500 open calls,
// half of them by ended processes, 10,000 sessions, and PETRIGATE_RECORDS records (default 20,000).
func BenchmarkSurvey(b *testing.B) {
	for _, driver := range []string{"sqlite", "postgres"} {
		b.Run(driver, func(b *testing.B) {
			open := opener(b, driver)
			p := twenty(b)
			ended, d := open(), open()
			old, own := durable(b, ended, p, nil), durable(b, d, p, nil)
			for i := range 500 {
				l := []*store.Durable{old, own}[i%2]
				k := admission.Key{Session: fmt.Sprint("open", i)}
				begin(b, l, k)
				if _, err := admit(b.Context(), l, k, gate.Call{Tool: "t1", Time: time.Now()}); err != nil {
					b.Fatal(err)
				}
			}
			idle(b, own, 9500)
			n, err := strconv.Atoi(cmp.Or(os.Getenv("PETRIGATE_RECORDS"), "20000"))
			if err != nil {
				b.Fatal(err)
			}
			fillRecords(b, d, n)
			if err := old.Close(b.Context()); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				heads, err := d.Heads(b.Context())
				lost, more := own.LostCalls(b.Context())
				if err != nil || more != nil || len(heads) == 0 || len(lost) != 250 {
					b.Fatal(err, more, len(heads), len(lost))
				}
			}
		})
	}
}

// opener returns a function that opens the same database each time.
func opener(b *testing.B, driver string) func() backend.Backend {
	b.Helper()
	if driver == "sqlite" {
		path := filepath.Join(b.TempDir(), "state", "petrigate.db")
		return func() backend.Backend { return database(b, path) }
	}
	dsn := postgrestest.NewSchema(b)
	return func() backend.Backend {
		d, err := postgres.Open(b.Context(), postgres.Options{DSN: dsn, NoSync: true})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = d.Close() })
		return d
	}
}

// idle opens sessions that outlive their process.
func idle(b *testing.B, d *store.Durable, n int) {
	b.Helper()
	for i := range n {
		k := admission.Key{Session: fmt.Sprint("idle", i)}
		if err := d.Open(b.Context(), admission.SessionInfo{Key: k, Since: time.Now(), Lasting: true, About: []byte("{}")}); err != nil {
			b.Fatal(err)
		}
	}
}

// fillRecords quickly adds records to a chain.
func fillRecords(b *testing.B, d backend.Backend, n int) {
	b.Helper()
	object := func(i int) []byte {
		return fmt.Appendf(nil, `{"time":"2026-11-25T23:55:53.745948214Z","event":"decision","session":"s%d","principal":"anonymous","call":%d,"tool":"t1","names":["t1","up.t1"],"decision":"allow","nets":[{"net":"limit-t1","verdict":"gated"}]}`, i%10_000, i)
	}
	for done := 0; done < n; done += 1000 {
		op := &backend.Op{Time: time.Now()}
		for i := range 1000 {
			op.Events = append(op.Events, backend.Event{Time: op.Time, Session: fmt.Sprint("s", i%10_000), Object: object(done + i)})
		}
		if err := d.Commit(b.Context(), []*backend.Op{op}); err != nil || op.Err != nil {
			b.Fatal(err, op.Err)
		}
	}
}
