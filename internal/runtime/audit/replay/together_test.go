package replay_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/replay"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/internal/runtime/store"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/journal"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres/postgrestest"
)

// together are rules whose nets are shared by sessions, or that many concurrent calls compete for.
const together = `limit push to 40 per user
limit edit to 5 per backup
require test before deploy since edit
limit delete to 3 per session for each path
limit pay to 100 of amount per user
block remove
map bash.command rm as remove`

// storm makes calls in all sessions at once.
func storm(t *testing.T, as []*admission.Admission, keys []admission.Key, calls int) {
	now := time.Now()
	var group sync.WaitGroup
	for g := range 6 {
		group.Go(func() {
			random := rand.New(rand.NewPCG(uint64(g), 3))
			for range calls {
				tool := []string{"push", "edit", "backup", "test", "deploy", "delete", "pay", "bash"}[random.IntN(8)]
				n := random.IntN(len(keys))
				c := &admission.Call{
					Key: keys[n], Tool: tool, Canonical: "up." + tool, Upstream: "up",
					Gate: gate.Call{Tool: tool, Time: now, Args: fmt.Appendf(nil, `{"path":"%d","amount":%d,"command":"rm"}`, random.IntN(3), random.IntN(9))},
				}
				a := as[n%len(as)]
				if d, ok := a.Decide(t.Context(), c).(*admission.Admitted); ok {
					a.Settle(t.Context(), &d.Ticket, gate.End{Outcome: []gate.Outcome{gate.Success, gate.Failure}[random.IntN(2)]}, "")
				}
			}
		})
	}
	group.Wait()
}

func keysOf(n int) (keys []admission.Key) {
	for i := range n {
		keys = append(keys, admission.Key{Session: fmt.Sprint("s", i), Principal: []string{"ann", "bob"}[i%2]})
	}
	return keys
}

func result(t *testing.T, text string) *policy.Result {
	t.Helper()
	return build(t, policy.Source{Rules: []config.RuleText{{File: "a.rules", Text: text}}})
}

// agree replays a log, checks that its decisions agree with the record, and compares the final
// marking of the sessions with the truth.
func agree(t *testing.T, s trail.Source, p *policy.Result, least int, keys []admission.Key, truth *admission.Admission) {
	t.Helper()
	r, err := replay.New(replay.Options{Policy: p.Policy, Active: p.Active})
	if err != nil {
		t.Fatal(err)
	}
	for record, err := range s.Records(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		e, err := record.Entry()
		if err != nil {
			t.Fatal(err)
		}
		r.Add(&record, &e)
	}
	report := r.Report()
	if report.Agreed != report.Decisions || report.Decisions < least {
		t.Errorf("%+v, first %+v", report, report.First)
	}
	for _, k := range keys {
		want, err := truth.Snapshot(t.Context(), k)
		if err != nil {
			t.Fatal(err)
		}
		state, why := r.State(k.Session, time.Now())
		if why != "" {
			t.Fatal(k.Session, why)
		}
		nets := want.Policy().NetsOf(want)
		for i, n := range state.Nets() {
			if got, want := standing(&n), standing(&nets[i]); got != want {
				t.Errorf("session %s:\n%s, want\n%s", k.Session, got, want)
			}
		}
	}
}

// TestTogether checks that records are in the order of the decisions, even for concurrent calls.
func TestTogether(t *testing.T) {
	p := result(t, together)
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.Open(path, audit.Rotation{})
	if err != nil {
		t.Fatal(err)
	}
	a := admission.New(admission.Options{
		Ledger: store.NewMemory(p.Policy, p.Active, nil, audit.NewRecorder(log, time.Now)), Generation: admission.NewGeneration(p.Policy, p.Active), Process: "p",
	})
	a.Begin(t.Context(), audit.Process{Driver: "memory"})
	keys := keysOf(3)
	for _, k := range keys {
		if err := a.Sessions.Open(t.Context(), admission.SessionInfo{Key: k, Since: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	storm(t, []*admission.Admission{a}, keys, 150)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err := trail.Verify(t.Context(), trail.File(path)); err != nil || !r.OK() {
		t.Error(r, err)
	}
	agree(t, trail.File(path), p, 900, keys, a)
}

// TestDatabase checks that the chains of two processes that share a database verify, that a changed
// row is found, and that the decisions agree with the record.
func TestDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "petrigate.db")
	log := shared(t, "sqlite", func() (backend.Backend, error) {
		return journal.Open(t.Context(), journal.Options{Path: path, Sync: journal.Normal})
	})
	tamper(t, path, log, log.Backend.Writer())
}

// TestPostgres does the same with PostgreSQL.
func TestPostgres(t *testing.T) {
	dsn := postgrestest.NewSchema(t)
	shared(t, "postgres", func() (backend.Backend, error) {
		return postgres.Open(t.Context(), postgres.Options{DSN: dsn})
	})
}

// shared makes two processes share a database, and returns the log.
func shared(t *testing.T, driver string, open func() (backend.Backend, error)) (log trail.Database) {
	t.Helper()
	p := result(t, together)
	keys := keysOf(4)
	var as []*admission.Admission
	for i := range 2 {
		b, err := open()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		d := store.NewDurable(t.Context(), store.DurableOptions{Backend: b, Policy: p.Policy, Active: p.Active})
		t.Cleanup(func() { d.Close(context.Background()) })
		a := admission.New(admission.Options{Ledger: d, Generation: admission.NewGeneration(p.Policy, p.Active), Process: b.Writer()})
		a.Begin(t.Context(), audit.Process{Driver: driver})
		for n, k := range keys {
			if n%2 == i {
				if err := a.Sessions.Open(t.Context(), admission.SessionInfo{Key: k, Since: time.Now()}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if as = append(as, a); i == 0 {
			log = trail.Database{Backend: b}
		}
	}
	storm(t, as, keys, 25)
	r, err := trail.VerifyChains(t.Context(), log)
	if err != nil || !r.OK() || r.Chains != 2 || len(r.Warnings) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
	agree(t, log, p, 150, keys, as[0])
	return log
}

// alone are rules whose nets belong to one session each.
const alone = `limit edit to 5 per backup
require test before deploy since edit
limit delete to 3 per session for each path
limit pay to 30 of amount per session
limit push to 4 per session`

// TestShortened removes the oldest records of some, all or no processes, and checks that a replay
// counts decisions that depend on them as unknown, and none as wrong. Sessions continue in a third
// process.
func TestShortened(t *testing.T) {
	for _, text := range []string{together, alone} {
		shortened(t, result(t, text))
	}
}

func shortened(t *testing.T, p *policy.Result) {
	t.Helper()
	keys := keysOf(4)
	path := filepath.Join(t.TempDir(), "state", "petrigate.db")
	var log trail.Database
	for range 3 {
		b, err := journal.Open(t.Context(), journal.Options{Path: path, Sync: journal.Normal})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.Close() })
		d := store.NewDurable(t.Context(), store.DurableOptions{Backend: b, Policy: p.Policy, Active: p.Active})
		a := admission.New(admission.Options{Ledger: d, Generation: admission.NewGeneration(p.Policy, p.Active), Process: b.Writer()})
		a.Begin(t.Context(), audit.Process{Driver: "sqlite"})
		for _, k := range keys {
			if err := a.Sessions.Open(t.Context(), admission.SessionInfo{Key: k, Since: time.Now(), Lasting: true}); err != nil {
				t.Fatal(err)
			}
		}
		storm(t, []*admission.Admission{a}, keys, 10)
		log = trail.Database{Backend: b}
	}
	random := rand.New(rand.NewPCG(29, 5))
	unknown, agreed := 0, 0
	for range 30 {
		cut, left, whole := map[string]uint64{}, []trail.Record{}, time.Time{}
		for record, err := range log.Records(t.Context(), nil) {
			e, fault := record.Entry()
			if err != nil || fault != nil {
				t.Fatal(err, fault)
			}
			if _, ok := cut[record.Writer]; !ok {
				cut[record.Writer] = []uint64{0, 1 << 40, 1 + random.Uint64N(50)}[random.IntN(3)]
			}
			if record.Seq > cut[record.Writer] {
				left = append(left, record)
			} else if after := e.Time.Add(1); after.After(whole) {
				whole = after
			}
		}
		r, err := replay.New(replay.Options{Policy: p.Policy, Active: p.Active, Whole: whole})
		if err != nil {
			t.Fatal(err)
		}
		for _, record := range left {
			e, _ := record.Entry()
			r.Add(&record, &e)
		}
		report := r.Report()
		if report.Wrong > 0 {
			t.Errorf("cut at %v: %+v, first %+v", cut, report, report.First)
		}
		unknown, agreed = unknown+report.Unknown, agreed+report.Agreed
	}
	if unknown == 0 || agreed < unknown {
		t.Errorf("%d match the record, %d are not known", agreed, unknown)
	}
}

// tamper changes database rows and restores them.
func tamper(t *testing.T, path string, log trail.Database, writer string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, c := range []struct{ sql, want string }{
		{`UPDATE record SET object = replace(object, '"event"', '"evens"') WHERE seq = 4 AND writer = (SELECT id FROM writer WHERE name = ?)`, "the hash does not match"},
		{`DELETE FROM record WHERE seq = 4 AND writer = (SELECT id FROM writer WHERE name = ?)`, "record 5 follows record 3"},
		{`DELETE FROM record WHERE seq > 1 AND writer = (SELECT id FROM writer WHERE name = ?)`, "are missing at the end"},
	} {
		if _, err := db.ExecContext(t.Context(), c.sql, writer); err != nil {
			t.Skip(err) // only package sqlite depends on the schema
		}
		r, err := trail.VerifyChains(t.Context(), log)
		if err != nil || !slices.ContainsFunc(r.Faults, func(f trail.Fault) bool { return strings.Contains(f.What, c.want) }) {
			t.Errorf("%s: %+v, %v", c.sql, r.Faults, err)
		}
	}
}
