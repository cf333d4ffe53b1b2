package postgres_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres/postgrestest"
)

var (
	at  = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	all = backend.PartID{Scope: backend.Global}
)

// step returns an op on the global part.
func step(reserve bool, version int64, data string) *backend.Op {
	return &backend.Op{
		Session: "s", Reserve: reserve, Time: at,
		Writes: []backend.Write{{ID: all, Version: version, Data: []byte(data)}},
		Events: []backend.Event{{Time: at, Session: "s", Object: []byte(`{"to":` + data + `}`)}},
	}
}

// commit commits one op and expects the given error.
func commit(t *testing.T, d *postgres.DB, want error, op *backend.Op) {
	t.Helper()
	if err := d.Commit(t.Context(), []*backend.Op{op}); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(op.Err, want) {
		t.Fatalf("%v, want %v", op.Err, want)
	}
}

// expect checks the global part and the number of records in the chain of d.
func expect(t *testing.T, d *postgres.DB, version int64, data string, records int) {
	t.Helper()
	p, err := d.Load(t.Context(), all)
	if err != nil || p[0].Version != version || string(p[0].Data) != data {
		t.Fatalf("%+v, %v, want version %d with %s", p, err, version, data)
	}
	var hash [32]byte
	n := 0
	for r, err := range d.Records(t.Context(), backend.Query{Writer: d.Writer()}) {
		n++
		if err != nil || r.Hash != audit.Link(hash, uint64(n), r.Object) {
			t.Fatalf("record %d: %v", n, err)
		}
		hash = r.Hash
	}
	if n != records {
		t.Fatalf("%d records, want %d", n, records)
	}
}

// recovers waits until d finds its database again.
func recovers(t *testing.T, d *postgres.DB) {
	t.Helper()
	finds(t, d, func(err error) bool { return err == nil })
}

// finds waits until d finds its database in the expected state.
func finds(t *testing.T, d *postgres.DB, is func(error) bool) {
	t.Helper()
	for began := time.Now(); ; {
		err := d.Ready(t.Context())
		if is(err) {
			return
		}
		if time.Since(began) > 30*time.Second {
			t.Fatalf("that is how it stays: %v", err)
		}
	}
}

// TestCommitSurvivesCutConnection: if a connection breaks before or after a commit, the commit takes effect exactly once.
func TestCommitSurvivesCutConnection(t *testing.T) {
	dsn := postgrestest.NewSchema(t)
	for _, mode := range []postgrestest.Mode{postgrestest.CutRequest, postgrestest.CutAnswer} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			p := postgrestest.NewProxy(t, dsn)
			d := open(t, postgres.Options{DSN: p.DSN(), Poll: time.Hour})
			first, err := d.Versions(t.Context(), all)
			if err != nil {
				t.Fatal(err)
			}
			p.Once(mode)
			commit(t, d, nil, step(true, first[0], "1"))
			expect(t, d, first[0]+1, "1", 1)
			p.Once(mode)
			commit(t, d, backend.ErrStale, step(true, 77, "2"))
			expect(t, d, first[0]+1, "1", 1)
			if err := d.Ready(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestUncertainCommit: if the database cannot be asked about a commit, the error is uncertain, and the
// records show the outcome later. A commit that arrives late is refused.
func TestUncertainCommit(t *testing.T) {
	dsn := postgrestest.NewSchema(t)
	for _, c := range []struct {
		mode    postgrestest.Mode
		records int
	}{{postgrestest.CutAnswer, 2}, {postgrestest.CutRequest, 1}, {postgrestest.Hold, 1}} {
		t.Run(fmt.Sprint(c.mode), func(t *testing.T) {
			p := postgrestest.NewProxy(t, dsn)
			d := open(t, postgres.Options{DSN: p.DSN() + "&pool_max_conns=1", Timeout: 500 * time.Millisecond, Poll: time.Hour})
			first, err := d.Versions(t.Context(), all)
			if err != nil {
				t.Fatal(err)
			}
			commit(t, d, nil, step(true, first[0], "1")) // prepares the statement
			p.Set(c.mode)
			err = d.Commit(t.Context(), []*backend.Op{step(true, first[0]+1, "2")})
			if !errors.Is(err, backend.ErrUncertain) {
				t.Fatalf("%v, want %v", err, backend.ErrUncertain)
			}
			if err := d.Ready(t.Context()); err == nil {
				t.Error("it says that it is ready")
			}
			p.Set(postgrestest.Pass)
			p.Cut()
			recovers(t, d)
			n := 0
			for _, err := range d.Records(t.Context(), backend.Query{Writer: d.Writer()}) {
				if n++; err != nil {
					t.Fatal(err)
				}
			}
			if n != c.records {
				t.Errorf("%d records, want %d", n, c.records)
			}
			commit(t, d, nil, step(true, first[0]+int64(n), "3"))
			expect(t, d, first[0]+int64(n)+1, "3", n+1)
			if err := d.Ready(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSilentNetwork: if the network drops all packets, the first decision waits for the timeout. Later
// decisions, reads, stops and readiness checks fail at once with the reason, and their outcome is
// certain. When the network works again, so do they.
func TestSilentNetwork(t *testing.T) {
	p := postgrestest.NewProxy(t, postgrestest.NewSchema(t))
	d := open(t, postgres.Options{DSN: p.DSN(), Timeout: 2 * time.Second, Poll: 100 * time.Millisecond})
	commit(t, d, nil, step(true, 0, "1"))
	p.Set(postgrestest.Hold)
	if err := d.Commit(t.Context(), []*backend.Op{step(true, 1, "2")}); err == nil {
		t.Fatal("it was committed")
	}
	began := time.Now()
	for range 10 {
		err := d.Commit(t.Context(), []*backend.Op{step(true, 1, "2")})
		if err == nil || errors.Is(err, backend.ErrUncertain) {
			t.Error(err)
		}
		_, read := d.Load(t.Context(), all)
		for _, err := range []error{read, d.Ready(t.Context()), d.SetStop(t.Context(), backend.Stop{Time: at}, true)} {
			if err == nil {
				t.Error("no error of a database that does not answer")
			}
		}
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("they took %v; one that waits takes two seconds", took) // and all would 80
	}
	p.Set(postgrestest.Pass)
	p.Cut()
	recovers(t, d)
	commit(t, d, nil, step(true, 1, "2"))
	expect(t, d, 2, "2", 2)
}

// TestTerminatedConnections: an administrator who terminates the connections of a process causes no failed
// decision and no failed read: whatever is safe is tried again.
func TestTerminatedConnections(t *testing.T) {
	const rounds = 40
	dsn := postgrestest.NewSchema(t)
	name := "petrigate_" + strings.ToLower(rand.Text())
	d := open(t, postgres.Options{DSN: dsn + "&application_name=" + name, Poll: 20 * time.Millisecond})
	admin, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(t.Context())
	var wait sync.WaitGroup
	turns := make(chan struct{}, 1)
	wait.Go(func() {
		for range turns {
			if _, err := admin.Exec(context.Background(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1`, name); err != nil {
				t.Error(err)
				return
			}
		}
	})
	defer wait.Wait()
	defer close(turns)
	version := int64(0)
	for i := range rounds {
		select {
		case turns <- struct{}{}: // during one of the following operations
		default:
		}
		commit(t, d, nil, step(i%2 == 0, int64(i), "1"))
		if p, err := d.Load(t.Context(), all); err != nil || p[0].Version != int64(i+1) {
			t.Fatal(p, err)
		}
		if version, err = d.PutApproval(t.Context(), backend.Approval{ID: "a", Key: "k", State: backend.Pending, Version: version, Created: at, Expires: at, Data: fmt.Append(nil, i)}); err != nil {
			t.Fatal(i, err)
		}
	}
	expect(t, d, rounds, "1", rounds)
}

// TestCommitRoundTrips: a decision takes one round trip, and so does a batch of them.
func TestCommitRoundTrips(t *testing.T) {
	p := postgrestest.NewProxy(t, postgrestest.NewSchema(t))
	d := open(t, postgres.Options{DSN: p.DSN() + "&pool_max_conns=1", Poll: time.Hour})
	<-d.Changes()                         // wait until the listener is connected
	commit(t, d, nil, step(true, 0, "0")) // the first prepares the statement
	before := p.Trips()
	for i := range 10 {
		commit(t, d, nil, step(true, int64(1+i), "1"))
	}
	if n := p.Trips() - before; n != 10 {
		t.Errorf("%d round trips for 10 commits", n)
	}
	before = p.Trips()
	var ops []*backend.Op
	for i := range 100 {
		ops = append(ops, step(i%2 == 0, int64(11+i), "1"))
	}
	if err := d.Commit(t.Context(), ops); err != nil || ops[99].Err != nil {
		t.Fatal(err, ops[99].Err)
	}
	if n := p.Trips() - before; n != 1 {
		t.Errorf("%d round trips for a batch of 100", n)
	}
}

// TestArbitraryNames: names and keys may have any bytes; only those that are too long are refused.
func TestArbitraryNames(t *testing.T) {
	d := open(t, postgres.Options{DSN: postgrestest.NewSchema(t)})
	odd := backend.PartID{Scope: backend.Session, Name: "\xff\x00'\\"}
	long := backend.PartID{Scope: backend.Session, Name: strings.Repeat("x", 5000)}
	ops := []*backend.Op{
		{Session: odd.Name, Reserve: true, Writes: []backend.Write{{ID: odd, Data: []byte("{}"), Values: map[string][]byte{"\x00\xfe": []byte("1")}}}},
		{Writes: []backend.Write{{ID: long, Data: []byte("{}")}}},
		{Writes: []backend.Write{{ID: all, Data: []byte("{}"), Values: map[string][]byte{long.Name: {}}}}},
		{Writes: []backend.Write{{ID: long, Version: 1, Data: []byte("{}")}}},
	}
	if err := d.Commit(t.Context(), ops); err != nil {
		t.Fatal(err)
	}
	if ops[0].Err != nil || ops[1].Err == nil || ops[2].Err == nil || !errors.Is(ops[3].Err, backend.ErrStale) {
		t.Error(ops[0].Err, ops[1].Err, ops[2].Err, ops[3].Err)
	}
	p, err := d.Load(t.Context(), odd)
	if err != nil || string(p[0].Values["\x00\xfe"]) != "1" {
		t.Error(p, err)
	}
}

// TestStopExcludesReservations: once a stop is in force, no commit with a reservation succeeds, even if it had
// begun earlier.
func TestStopExcludesReservations(t *testing.T) {
	dsn := postgrestest.NewSchema(t)
	a, b := open(t, postgres.Options{DSN: dsn}), open(t, postgres.Options{DSN: dsn})
	var wait sync.WaitGroup
	ended := make(chan int64, 1)
	wait.Go(func() {
		for v := int64(0); ; v++ {
			op := step(true, v, "1")
			if err := b.Commit(t.Context(), []*backend.Op{op}); err != nil || op.Err != nil {
				if !errors.Is(op.Err, backend.ErrStopped) {
					t.Error(err, op.Err)
				}
				ended <- v
				return
			}
		}
	})
	for p, err := a.Versions(t.Context(), all); err != nil || p[0] < 5; p, err = a.Versions(t.Context(), all) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := a.SetStop(t.Context(), backend.Stop{Time: at, Actor: "me\x00", Reason: "\xff"}, true); err != nil {
		t.Fatal(err)
	}
	stopped, err := a.Versions(t.Context(), all)
	wait.Wait()
	if v := <-ended; err != nil || v != stopped[0] {
		t.Errorf("%d steps when the stop was in force, %d in the end: %v", stopped[0], v, err)
	}
}

// TestServerRestart: the server is restarted, and crashes, while processes commit.
func TestServerRestart(t *testing.T) {
	s := postgrestest.Start(t, "wal_writer_delay=10s")
	o := postgres.Options{DSN: s.DSN(), Timeout: 2 * time.Second, Poll: 50 * time.Millisecond}
	a, b := open(t, o), open(t, o)
	commit(t, a, nil, step(true, 0, "1"))

	s.Stop("fast")
	err := a.Commit(t.Context(), []*backend.Op{step(true, 1, "2")})
	if err == nil || a.Ready(t.Context()) == nil {
		t.Fatalf("committed to a server that is stopped: %v", err)
	}
	began := time.Now()
	if err := a.Commit(t.Context(), []*backend.Op{step(true, 1, "2")}); err == nil || time.Since(began) > time.Second {
		t.Errorf("a database that is known to be away is waited for: %v", err)
	}
	s.Start()
	recovers(t, a)
	recovers(t, b)
	commit(t, a, nil, step(true, 1, "2"))
	expect(t, b, 2, "2", 0)

	// A crash undoes commits that did not wait for the disk. No later commit builds on them.
	commit(t, a, nil, step(false, 2, "3"))
	expect(t, b, 3, "3", 0)
	s.Stop("immediate")
	s.Start()
	recovers(t, a)
	recovers(t, b)
	if v, err := b.Versions(t.Context(), all); err != nil || v[0] >= 0 {
		t.Fatalf("the version is %d, %v, as if it could be compared", v, err)
	}
	commit(t, a, backend.ErrStale, step(true, 2, "4"))
	commit(t, a, backend.ErrStale, step(true, 3, "4"))
	p, err := a.Load(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	if p[0].Version < 2 {
		t.Fatalf("after the crash it is version %d: a step that reserves was lost", p[0].Version)
	}
	t.Logf("after the crash: version %d", p[0].Version)
	commit(t, a, nil, step(true, p[0].Version, "5"))
	commit(t, b, backend.ErrStale, step(true, p[0].Version+1, "6")) // this process has not read it
	expect(t, b, p[0].Version+1, "5", 0)
	commit(t, b, nil, step(true, p[0].Version+1, "6"))
	expect(t, a, p[0].Version+2, "6", int(p[0].Version)+1)
}

// TestOlderCopyIsRefused: an older copy of the database is not written.
func TestOlderCopyIsRefused(t *testing.T) {
	s := postgrestest.Start(t)
	d := open(t, postgres.Options{DSN: s.DSN(), Timeout: time.Second, Poll: 50 * time.Millisecond})
	commit(t, d, nil, step(true, 0, "1"))
	s.Copy()
	commit(t, d, nil, step(true, 1, "2"))
	s.Restore()
	old := func(err error) bool { return errors.Is(err, backend.ErrRolledBack) }
	_ = d.Commit(t.Context(), []*backend.Op{step(true, 2, "3")})
	finds(t, d, old)
	if err := d.Commit(t.Context(), []*backend.Op{step(true, 2, "3")}); !old(err) {
		t.Fatalf("%v, want %v", err, backend.ErrRolledBack)
	}
	s.Restore() // the newer database is back
	recovers(t, d)
	expect(t, d, 2, "2", 2)
	commit(t, d, nil, step(true, 2, "3"))
}

// TestReadOnlyServer: a process waits for a server that does not accept writes, and works again when
// the server does.
func TestReadOnlyServer(t *testing.T) {
	s := postgrestest.Start(t)
	d := open(t, postgres.Options{DSN: s.DSN(), Timeout: time.Second, Poll: 50 * time.Millisecond})
	commit(t, d, nil, step(true, 0, "1"))
	s.Run("ALTER DATABASE postgres SET default_transaction_read_only = on")
	s.Run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = 'postgres'")
	if err := d.Commit(context.Background(), []*backend.Op{step(true, 1, "2")}); err == nil {
		t.Fatal("a server that is read-only has taken it")
	}
	finds(t, d, func(err error) bool { return err != nil && strings.Contains(err.Error(), "it is read-only") })
	s.Run("BEGIN READ WRITE; ALTER DATABASE postgres RESET default_transaction_read_only; COMMIT")
	recovers(t, d)
	commit(t, d, nil, step(true, 1, "2"))
	expect(t, d, 2, "2", 2)
}
