package store_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres/postgrestest"
)

// breakable is a database shared by two processes that can fail and be repaired.
type breakable struct {
	own, other backend.Backend // databases of two processes; own is the one that fails
	fail, mend func()
}

// stuck is a database whose kill switch does not answer while it is locked.
type stuck struct {
	backend.Backend
	mu   sync.Mutex
	away bool
}

func (s *stuck) set(away bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = away
}

func (s *stuck) broken() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.away
}

func (s *stuck) Stops(ctx context.Context) ([]backend.Stop, error) {
	if s.broken() {
		return nil, errAway
	}
	return s.Backend.Stops(ctx)
}

func (s *stuck) SetStop(ctx context.Context, stop backend.Stop, on bool, e ...backend.Event) error {
	if s.broken() {
		return errAway
	}
	return s.Backend.SetStop(ctx, stop, on, e...)
}

func breakables(t *testing.T) map[string]func(*testing.T) breakable {
	open := func(t *testing.T, dsn string) backend.Backend {
		d, err := postgres.Open(t.Context(), postgres.Options{DSN: dsn, Timeout: time.Second, Poll: 50 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		return d
	}
	return map[string]func(*testing.T) breakable{
		"sqlite": func(t *testing.T) breakable {
			path := place(t)
			s := &stuck{Backend: database(t, path)}
			return breakable{s, database(t, path), func() { s.set(true) }, func() { s.set(false) }}
		},
		"PostgreSQL is cut off": func(t *testing.T) breakable {
			dsn := postgrestest.NewSchema(t)
			p := postgrestest.NewProxy(t, dsn)
			return breakable{open(t, p.DSN()), open(t, dsn),
				func() { p.Set(postgrestest.Refuse); p.Cut() }, func() { p.Set(postgrestest.Pass) }}
		},
		"PostgreSQL swallows all": func(t *testing.T) breakable {
			dsn := postgrestest.NewSchema(t)
			p := postgrestest.NewProxy(t, dsn)
			return breakable{open(t, p.DSN()), open(t, dsn),
				func() { p.Set(postgrestest.Hold) }, func() { p.Set(postgrestest.Pass); p.Cut() }}
		},
		"the table of stops is locked": func(t *testing.T) breakable {
			dsn := postgrestest.NewSchema(t)
			own, other := open(t, dsn), open(t, dsn)
			conn, err := pgx.Connect(t.Context(), dsn)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.Close(context.Background()) })
			run := func(sql string) {
				if _, err := conn.Exec(t.Context(), sql); err != nil {
					t.Error(err)
				}
			}
			return breakable{own, other, func() { run("BEGIN"); run("LOCK TABLE petrigate_stop IN EXCLUSIVE MODE") }, func() { run("ROLLBACK") }}
		},
	}
}

// TestStopHoldsWithoutDatabase: a stop that the database cannot store applies to the process that
// received it. The process reports this, and writes the stop when the database works again; then
// the stop applies to all processes. A start ends the stop, before the write and after it.
func TestStopHoldsWithoutDatabase(t *testing.T) {
	t.Parallel()
	for name, of := range breakables(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := of(t)
			own, other := store.SharedStops(b.own), store.SharedStops(b.other)
			stop, start := admission.Stop{Actor: "ann", Reason: "doubt", Time: time.Now()}, admission.Stop{Actor: "ann", Time: time.Now()}
			use := func(on bool) admission.Switched {
				t.Helper()
				s := map[bool]admission.Stop{true: stop, false: start}[on]
				done, err := own.Set(t.Context(), s, on, audit.Operator{Time: s.Time, Event: map[bool]string{true: "stop", false: "start"}[on]})
				if err != nil {
					t.Fatal(err)
				}
				return done
			}
			watch := own.Watch(slog.New(slog.DiscardHandler))

			b.fail()
			for i := range 2 {
				done := use(true)
				if done.Alone == nil || done.Already != (i > 0) || len(done.Left) != 1 || !done.Left[0].Alone {
					t.Fatalf("%+v", done)
				}
				if s := own.Stopped("x"); s == nil || s.Reason != "doubt" {
					t.Fatal("a stop that the database did not take does not hold")
				}
			}
			watch(t.Context())
			if own.Stopped("x") == nil {
				t.Fatal("it was forgotten")
			}
			if done := use(false); done.Alone == nil || own.Stopped("x") != nil {
				t.Fatalf("a start does not end it: %+v", done)
			}
			use(true)

			b.mend()
			for own.Stopped("x").Alone {
				watch(t.Context())
			}
			if err := other.Refresh(t.Context()); err != nil || other.Stopped("x") == nil || other.Stopped("x").Alone {
				t.Fatal("the stop was not written:", err)
			}
			if done := use(false); done.Already || done.Alone != nil || own.Stopped("x") != nil {
				t.Fatalf("%+v", done)
			}
			if err := other.Refresh(t.Context()); err != nil || other.Stopped("x") != nil {
				t.Fatal("it holds after the start:", err)
			}
			if done := use(false); !done.Already {
				t.Errorf("%+v", done)
			}
			n := 0
			for _, err := range b.other.Records(t.Context(), backend.Query{}) {
				if n++; err != nil {
					t.Fatal(err)
				}
			}
			if n != 2 {
				t.Errorf("%d records, want those of the stop and the start", n)
			}
		})
	}
}
