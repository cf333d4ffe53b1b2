package approval_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/journal"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres/postgrestest"
	"github.com/petrigate/petrigate/internal/soak"
)

// A replica is a broker with its own connection to the shared database.
type replica struct {
	*approval.Broker
	database backend.Backend
}

// A cluster makes replicas. Its clock is set by hand.
type cluster struct {
	t    *testing.T
	open func() backend.Backend
	mask approval.Mask
	at   atomic.Int64 // seconds since the start
}

var start = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

func (c *cluster) now() time.Time { return start.Add(time.Duration(c.at.Load()) * time.Second) }

func (c *cluster) replica() *replica {
	r := &replica{database: c.open()}
	r.Broker = approval.New(approval.Options{
		Expire: time.Minute, Cooldown: 30 * time.Second, Channels: []string{approval.Elicit, approval.CLI}, Mask: c.mask, Grants: time.Hour, Now: c.now, Store: r.database,
	})
	return r
}

// onEach runs f with an sqlite file, and with PostgreSQL if it is available.
func onEach(t *testing.T, f func(t *testing.T, c *cluster)) {
	t.Run("sqlite", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "state.db")
		c := &cluster{t: t}
		c.open = func() backend.Backend {
			b, err := journal.Open(t.Context(), journal.Options{Path: path, Sync: journal.Normal, Now: c.now})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = b.Close() })
			return b
		}
		f(t, c)
	})
	t.Run("postgres", func(t *testing.T) {
		dsn := postgrestest.NewSchema(t)
		c := &cluster{t: t}
		c.open = func() backend.Backend {
			b, err := postgres.Open(t.Context(), postgres.Options{DSN: dsn})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = b.Close() })
			return b
		}
		f(t, c)
	})
}

// deploy is a call whose bytes a person should approve only after seeing all of them.
var deploy = approval.Call{
	Upstream: "prod", Tool: "deploy", Arguments: []byte("{ \"to\":\t\"prod\", \"n\": 1.0 }"), Size: 26, SHA256: "ab", Meta: []byte(`{"x":1}`),
	Session: "nightly", Client: "agent", Principal: "ann",
}

func key(n any) approval.Key {
	return approval.Key{Session: "nightly", Tool: "prod.deploy", Arguments: fmt.Sprint(n), Policy: "p"}
}

func ask(persons int) *gate.Ask {
	return &gate.Ask{Steps: []gate.Step{{Net: "n", Transition: "deploy", Name: "deploy", Approvals: persons, Reason: "deploy requires human approval", Rule: gate.Position{File: "r.rules", Line: 3}}}}
}

// opens asks about call n, or finds its answer.
func (r *replica) opens(t *testing.T, n any, persons int) *approval.Request {
	t.Helper()
	q, err := r.Open(key(n), deploy, ask(persons))
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// uses uses up a consent as an admission does.
func (r *replica) uses(c *cluster, q *approval.Request) error {
	op := &backend.Op{Session: "nightly", Reserve: true, Uses: q.ID, Time: c.now(), Events: []backend.Event{{Time: c.now(), Session: "nightly", Object: []byte(`{"event":"decision"}`)}}}
	if err := r.database.Commit(context.Background(), []*backend.Op{op}); err != nil {
		return err
	}
	r.Used(q, op.Err == nil)
	return op.Err
}

func stateOf(r *replica, q *approval.Request) approval.State { return r.Status(q).State }

// TestAnsweredElsewhere: a call waits at one replica, a person answers at another after seeing
// exactly what will run, and the same call uses up the consent once at a third.
func TestAnsweredElsewhere(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, c *cluster) {
		one, two, three := c.replica(), c.replica(), c.replica()
		q := one.opens(t, 1, 1)
		shown, ok := two.Find(q.ID)
		if !ok || !bytes.Equal(shown.Call.Arguments, deploy.Arguments) || !bytes.Equal(shown.Call.Meta, deploy.Meta) || shown.Steps[0].Rule.Line != 3 || shown.Answer.State != approval.Pending {
			t.Fatalf("a person is shown %+v", shown)
		}
		three.Refresh(t.Context())
		if list := three.List(); len(list) != 1 || list[0].Request.ID != q.ID {
			t.Errorf("a person is listed %v", list)
		}
		if err := two.Answer(q.ID, true, approval.CLI, "bob", ""); err != nil {
			t.Fatal(err)
		}
		select {
		case <-q.Answered():
			t.Error("it is answered before the store was read")
		default:
		}
		one.Refresh(t.Context())
		<-q.Answered()
		if said := one.Status(q); said.State != approval.Approved || said.Actor != "bob" || said.Channel != approval.CLI {
			t.Errorf("%+v", said)
		}
		one.Release(q, true)
		again := three.opens(t, 1, 1)
		if again.ID != q.ID || stateOf(three, again) != approval.Approved {
			t.Fatalf("%s is %s, want %s", again.ID, stateOf(three, again), q.ID)
		}
		if err := three.uses(c, again); err != nil {
			t.Fatal(err)
		}
		if err := one.uses(c, q); !errors.Is(err, backend.ErrUsed) {
			t.Errorf("used twice: %v", err)
		}
		if anew := one.opens(t, 1, 1); anew.ID == q.ID || stateOf(one, anew) != approval.Pending {
			t.Errorf("after its use it is %s", stateOf(one, anew))
		}
		if err := two.Answer(q.ID, true, approval.CLI, "bob", ""); err == nil {
			t.Error("answered after its use")
		}
	})
}

// A readBackStore is a store whose rows are all read as soon as it has a request.
type readBackStore struct {
	backend.Backend
	read func()
}

func (r *readBackStore) PutApproval(ctx context.Context, a backend.Approval) (int64, error) {
	version, err := r.Backend.PutApproval(ctx, a)
	r.read()
	return version, err
}

// TestReadBack checks that a request that its own broker reads back from the store, before it knows
// that the store has accepted it, is announced, counts toward the limits, and is withdrawn with its
// call.
func TestReadBack(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, c *cluster) {
		store := &readBackStore{Backend: c.open()}
		b := approval.New(approval.Options{Expire: time.Minute, Channels: []string{approval.CLI}, Now: c.now, Store: store})
		store.read = func() { b.Refresh(t.Context()) }
		q, err := b.Open(key(1), deploy, ask(1))
		if err != nil {
			t.Fatal(err)
		}
		if !b.Announce(q) {
			t.Error("nobody is told of it")
		}
		if b.Announce(q) {
			t.Error("people are told twice")
		}
		b.Release(q, false)
		if s := b.Status(q).State; s != approval.Withdrawn {
			t.Errorf("its call is gone, and it is %s", s)
		}
		for n := range 60 {
			if _, err := b.Open(key(n+2), deploy, ask(1)); (err == nil) != (n < 59) {
				t.Fatalf("request %d of a session in one minute: %v", n+2, err)
			}
		}
	})
}

// TestRestart checks that requests and answers survive the process.
func TestRestart(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, c *cluster) {
		before := c.replica()
		asked, approved, denied := before.opens(t, "asked", 1), before.opens(t, "approved", 1), before.opens(t, "denied", 1)
		if err := before.Answer(approved.ID, true, approval.CLI, "bob", ""); err != nil {
			t.Fatal(err)
		}
		before.Release(denied, true)
		before.Release(asked, true)
		if err := before.Answer(denied.ID, false, approval.CLI, "bob", "not today"); err != nil {
			t.Fatal(err)
		}
		_ = before.database.Close()

		after := c.replica()
		for n, want := range map[string]approval.State{"asked": approval.Pending, "approved": approval.Approved, "denied": approval.Denied} {
			if q := after.opens(t, n, 1); stateOf(after, q) != want {
				t.Errorf("%s is %s", n, stateOf(after, q))
			}
		}
		if said := after.Status(after.opens(t, "denied", 1)); said.Reason != "not today" || said.Actor != "bob" {
			t.Errorf("%+v", said)
		}
		if err := after.Answer(asked.ID, true, approval.CLI, "eve", ""); err != nil {
			t.Error(err)
		}
		if err := after.uses(c, approved); err != nil {
			t.Error(err)
		}
	})
}

// TestGrantsElsewhere checks that a grant is valid at every replica that knows it, across restarts,
// that its uses are counted together, and that it is used nowhere after it was revoked anywhere.
func TestGrantsElsewhere(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, c *cluster) {
		a, b := c.replica(), c.replica()
		q := a.opens(t, "first", 1)
		g, err := a.Grant(q.ID, approval.Terms{For: 10 * time.Minute, Like: []string{"to"}}, approval.CLI, "bob")
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(a.AnswerAs("1", q.ID, true, approval.CLI, "bob", ""), a.Grants().Add(g)); err != nil {
			t.Fatal(err)
		}
		uses := 0
		passes := func(r *replica, n string, want bool) {
			t.Helper()
			q := r.opens(t, n, 1)
			if id := r.Status(q).Grant; (id == g.ID) != want || (stateOf(r, q) == approval.Approved) != want {
				t.Errorf("call %s: %s, by %q, want %t", n, stateOf(r, q), id, want)
			}
			if want {
				if uses++; r.uses(c, q) != nil {
					t.Errorf("call %s does not use its approval", n)
				}
			}
		}
		passes(a, "second", true)
		passes(b, "of b", false) // b does not know the grant yet
		b.Refresh(t.Context())
		passes(b, "of b too", true)
		passes(a, "third", true)
		passes(b, "of b then", true)
		after := c.replica() // as after a restart
		after.Refresh(t.Context())
		passes(after, "fourth", true)
		c.at.Add(100) // longer than ended requests are kept
		for _, r := range []*replica{a, b, after} {
			r.Refresh(t.Context())
			if all := r.Grants().List(); len(all) != 1 || all[0].Uses != uses || all[0].Actor != "bob" || all[0].Pins[0].Value != `"prod"` {
				t.Errorf("%+v, want %d uses", all, uses)
			}
			if len(r.List()) > 2 {
				t.Errorf("it is listed as a question: %+v", r.List())
			}
		}
		if _, err := b.Grants().Revoke(g.ID); err != nil {
			t.Fatal(err)
		}
		passes(b, "fifth", false)
		passes(a, "sixth", false) // a does not know the grant yet
		a.Refresh(t.Context())
		if all := a.Grants().List(); len(all) != 0 {
			t.Errorf("%+v", all)
		}
		if _, err := after.Grants().Revoke(g.ID); err == nil {
			t.Error("it is revoked twice")
		}
	})
}

// TestSessionGrantsElsewhere checks that a session grant is known at all replicas, and ends at all
// of them with the session, wherever the session ends.
func TestSessionGrantsElsewhere(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, c *cluster) {
		a, b := c.replica(), c.replica()
		q := a.opens(t, "first", 1)
		g, err := a.Grant(q.ID, approval.Terms{Session: true, Like: []string{"to"}}, approval.CLI, "bob")
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(a.Answer(q.ID, true, approval.CLI, "bob", ""), a.Grants().Add(g)); err != nil {
			t.Fatal(err)
		}
		c.at.Add(int64((2 * time.Hour).Seconds()))
		b.Refresh(t.Context())
		if all := b.Grants().List(); len(all) != 1 || !all[0].ToEnd {
			t.Fatalf("%+v", all)
		}
		if q := b.opens(t, "second", 1); b.Status(q).Grant != g.ID || b.uses(c, q) != nil {
			t.Error("it is not used elsewhere")
		}
		if err := errors.Join(b.Grants().EndSession("another"), b.Grants().EndSession("nightly")); err != nil {
			t.Fatal(err)
		}
		for _, r := range []*replica{b, a} { // a does not know of it yet
			if q := r.opens(t, "third", 1); stateOf(r, q) != approval.Pending {
				t.Error("it outlives its session")
			}
			r.Refresh(t.Context())
			if all := r.Grants().List(); len(all) != 0 {
				t.Errorf("%+v", all)
			}
		}
	})
}

// TestGrantRaces checks that every use is counted if replicas use a grant at the same time, and
// that no replica uses it after another has revoked it.
func TestGrantRaces(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, c *cluster) {
		a, b, revoker := c.replica(), c.replica(), c.replica()
		q := a.opens(t, "first", 1)
		g, err := a.Grant(q.ID, approval.Terms{For: time.Minute}, approval.CLI, "bob")
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(a.AnswerAs("1", q.ID, true, approval.CLI, "bob", ""), a.Grants().Add(g)); err != nil {
			t.Fatal(err)
		}
		b.Refresh(t.Context())
		revoker.Refresh(t.Context())
		var revoked atomic.Bool
		var passed atomic.Int64
		var done sync.WaitGroup
		begun := make(chan struct{}, 2)
		for i, r := range []*replica{a, b} {
			done.Go(func() {
				for n := range 30 {
					if n == 10 {
						begun <- struct{}{}
					}
					late := revoked.Load()
					q, err := r.Open(key(fmt.Sprint(i, "/", n)), deploy, ask(1))
					switch {
					case err != nil:
						t.Error(err)
					case r.Status(q).Grant == "":
					case late:
						t.Error("it is used after it was revoked")
					default:
						passed.Add(1)
					}
				}
			})
		}
		<-begun
		if _, err := revoker.Grants().Revoke(g.ID); err != nil {
			t.Error(err)
		}
		revoked.Store(true)
		done.Wait()
		rows, err := revoker.database.Approvals(t.Context(), g.ID, "", time.Time{})
		if err != nil || len(rows) != 1 {
			t.Fatal(rows, err)
		}
		var kept approval.Grant
		if err := json.Unmarshal(rows[0].Data, &kept); err != nil || int64(kept.Uses) != passed.Load() || rows[0].State != "withdrawn" {
			t.Errorf("%d have passed: %s, %s, %v", passed.Load(), rows[0].State, rows[0].Data, err)
		}
	})
}

// TestTimesElsewhere checks that at all replicas requests expire and denials lose their force.
func TestTimesElsewhere(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, c *cluster) {
		one, two := c.replica(), c.replica()
		pending, approved, denied := one.opens(t, "pending", 1), one.opens(t, "approved", 1), one.opens(t, "denied", 1)
		if err := errors.Join(one.Answer(approved.ID, true, approval.CLI, "bob", ""), one.Answer(denied.ID, false, approval.CLI, "bob", "")); err != nil {
			t.Fatal(err)
		}
		c.at.Store(29)
		if q := two.opens(t, "denied", 1); stateOf(two, q) != approval.Denied {
			t.Errorf("a denial does not stand: %s", stateOf(two, q))
		}
		c.at.Store(31)
		if q := two.opens(t, "denied", 1); q.ID == denied.ID || stateOf(two, q) != approval.Pending {
			t.Errorf("a denial stands too long: %s", stateOf(two, q))
		}
		c.at.Store(61)
		if err := two.uses(c, approved); !errors.Is(err, backend.ErrUsed) {
			t.Errorf("an expired consent was used: %v", err)
		}
		for n, old := range map[string]*approval.Request{"pending": pending, "approved": approved} {
			if q := two.opens(t, n, 1); q.ID == old.ID || stateOf(two, q) != approval.Pending {
				t.Errorf("%s is %s", n, stateOf(two, q))
			}
			if stateOf(one, old) != approval.Expired {
				t.Errorf("%s is %s where it was asked", n, stateOf(one, old))
			}
		}
		if err := two.Answer(pending.ID, true, approval.CLI, "bob", ""); err == nil {
			t.Error("an expired request was answered")
		}
	})
}

// TestBroken checks that an unreadable request blocks its key only until it expires.
func TestBroken(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, c *cluster) {
		r := c.replica()
		q := r.opens(t, 1, 1)
		rows, err := r.database.Approvals(t.Context(), q.ID, "", time.Time{})
		if err != nil || len(rows) != 1 {
			t.Fatal(rows, err)
		}
		rows[0].Data = []byte("{")
		if _, err := r.database.PutApproval(t.Context(), rows[0]); err != nil {
			t.Fatal(err)
		}
		other := c.replica()
		if q, err := other.Open(key(1), deploy, ask(1)); err == nil {
			t.Errorf("%+v was opened", q)
		}
		c.at.Add(61)
		if again := other.opens(t, 1, 1); again.ID == q.ID {
			t.Error("it is the same request")
		}
	})
}

// TestTwoPersonsElsewhere checks that two people at two replicas count as two, and one person at
// two replicas as one.
func TestTwoPersonsElsewhere(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, c *cluster) {
		one, two := c.replica(), c.replica()
		q := one.opens(t, 1, 2)
		if err := two.Answer(q.ID, true, approval.CLI, "bob", ""); err != nil {
			t.Fatal(err)
		}
		if err := one.Answer(q.ID, true, approval.CLI, "bob", ""); err == nil {
			t.Error("one person approved twice")
		}
		if stateOf(one, q) != approval.Pending {
			t.Fatalf("one of two persons approved: %s", stateOf(one, q))
		}
		if err := one.Answer(q.ID, true, approval.CLI, "eve", ""); err != nil {
			t.Fatal(err)
		}
		if said := one.Status(q); said.State != approval.Approved || said.Approvals != 2 || said.Actor != "bob, eve" {
			t.Errorf("%+v", said)
		}
	})
}

// TestTooLateElsewhere: C022. Answers that come too late at other replicas change nothing. They are
// in the request's history there and where the call waits, even if the replica first learns of the
// request through them.
func TestTooLateElsewhere(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, c *cluster) {
		for _, approve := range []bool{true, false} {
			one, two, three := c.replica(), c.replica(), c.replica()
			q := one.opens(t, approve, 1)
			two.Refresh(t.Context())
			if err := one.Answer(q.ID, approve, approval.CLI, "ada", ""); err != nil {
				t.Fatal(err)
			}
			late := func(r *replica, actor string) {
				t.Helper()
				err := r.Answer(q.ID, !approve, approval.CLI, actor, "no")
				if rejected, ok := errors.AsType[*approval.RejectedError](err); !ok || rejected.Rejection.Kind != approval.TooLate || rejected.Record.Call.Session != "nightly" {
					t.Fatalf("approve %t: %v", approve, err)
				}
			}
			late(two, "bob")
			if approve {
				if err := one.uses(c, q); err != nil {
					t.Fatal(err)
				}
			}
			late(three, "eve")
			for i, r := range []*replica{one, two, three} {
				r.Refresh(t.Context())
				a, ok := r.Find(q.ID)
				if !ok || len(a.Rejections) != 2 || a.Rejections[0].Actor != "bob" || a.Rejections[1].Actor != "eve" || a.Rejections[1].Approve == approve {
					t.Errorf("approve %t, replica %d: %+v", approve, i, a)
				}
				if want := map[bool]approval.State{true: approval.Consumed, false: approval.Denied}[approve]; a.Answer.State != want || a.Answer.Actor != "ada" {
					t.Errorf("approve %t, replica %d: %+v", approve, i, a.Answer)
				}
			}
			if again := one.opens(t, approve, 1); approve == (again.ID == q.ID) {
				t.Errorf("approve %t: the next call has %s", approve, again.ID)
			}
		}
	})
}

// TestWithdrawnElsewhere checks that a request ends with the only call that waits for it, but not
// while a call at another replica waits for it.
func TestWithdrawnElsewhere(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, c *cluster) {
		one, two := c.replica(), c.replica()
		alone, both := one.opens(t, "alone", 1), one.opens(t, "both", 1)
		joined := two.opens(t, "both", 1)
		one.Release(alone, false)
		one.Release(both, false)
		if err := two.Answer(alone.ID, true, approval.CLI, "bob", ""); err == nil {
			t.Error("a request was answered after it was withdrawn")
		}
		if err := two.Answer(joined.ID, true, approval.CLI, "bob", ""); err != nil {
			t.Error(err)
		}
		one.Refresh(t.Context())
		if a, b := stateOf(one, alone), stateOf(one, both); a != approval.Withdrawn || b != approval.Approved {
			t.Errorf("%s and %s", a, b)
		}
	})
}

// TestRaces checks that only one of two answers at two replicas counts, at both, and that a consent
// known at both is used up once.
func TestRaces(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, c *cluster) {
		replicas := [...]*replica{c.replica(), c.replica()}
		for n := range soak.Count(50) {
			q := [...]*approval.Request{replicas[0].opens(t, n, 1), replicas[1].opens(t, n, 1)}
			if q[0].ID != q[1].ID {
				t.Fatalf("two requests for one call: %s, %s", q[0].ID, q[1].ID)
			}
			yes := n%3 != 0 // both answers are alike, or they differ
			errs := together(func(i int) error {
				return replicas[i].Answer(q[i].ID, yes || i == 0, approval.CLI, fmt.Sprint("person ", i), "")
			})
			if (errs[0] == nil) == (errs[1] == nil) {
				t.Fatalf("answers: %v, %v", errs[0], errs[1])
			}
			for _, r := range replicas {
				r.Refresh(t.Context())
			}
			a, b := replicas[0].Status(q[0]), replicas[1].Status(q[1])
			if a != b || (a.State == approval.Approved) != (yes || errs[0] == nil) {
				t.Fatalf("%+v and %+v after %v", a, b, errs)
			}
			if a.State == approval.Approved {
				errs = together(func(i int) error { return replicas[i].uses(c, q[i]) })
				if (errs[0] == nil) == (errs[1] == nil) {
					t.Fatalf("uses: %v, %v", errs[0], errs[1])
				}
			}
			for i, r := range replicas {
				r.Release(q[i], false)
			}
			c.at.Add(1)
		}
	})
}

// together runs f for two replicas at once.
func together(f func(i int) error) (errs [2]error) {
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = f(i) })
	}
	all.Wait()
	return errs
}

// TestStoreAway checks that a change counts only if the store has accepted it.
func TestStoreAway(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, c *cluster) {
		r := c.replica()
		q := r.opens(t, 1, 1)
		_ = r.database.Close()
		if err := r.Answer(q.ID, true, approval.CLI, "bob", ""); !errors.Is(err, approval.ErrStore) {
			t.Errorf("an answer that is nowhere: %v", err)
		}
		if stateOf(r, q) != approval.Pending {
			t.Errorf("it is %s", stateOf(r, q))
		}
		if _, err := r.Open(key(2), deploy, ask(1)); !errors.Is(err, approval.ErrStore) {
			t.Errorf("a request that is nowhere: %v", err)
		}
		r.Release(q, false)
		other := c.replica()
		if other.Refresh(t.Context()); len(other.List()) != 1 {
			t.Error("the request is lost")
		}
	})
}

// TestStoredAsShown checks that every broker displays the same text as the broker that asked, and
// that the store has no masked values. Other forwarded objects are unchanged.
func TestStoredAsShown(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, c *cluster) {
		c.mask = func(value []byte) ([]byte, int) {
			return bytes.ReplaceAll(value, []byte(`"hunter2"`), []byte(`"***"`)), bytes.Count(value, []byte(`"hunter2"`))
		}
		one, other := c.replica(), c.replica()
		ask := func(arguments string) *approval.Request {
			t.Helper()
			q, err := one.Open(approval.Key{Session: "s", Tool: "git.push", Arguments: arguments[:9]}, approval.Call{
				Upstream: "git", Tool: "push", Arguments: []byte(arguments), Size: len(arguments), SHA256: arguments[:9], Meta: []byte(`{"a":"hunter2"}`),
			}, &gate.Ask{Steps: []gate.Step{{Net: "pushes", Transition: "push"}}})
			if err != nil {
				t.Fatal(err)
			}
			return q
		}
		first := ask(`{"env":1,"pin":"hunter2"}`)
		if err := one.Answer(first.ID, true, approval.CLI, "ann", ""); err != nil {
			t.Fatal(err)
		}
		q := ask(`{"env":2,"pin":"hunter2","url":"https://u@evil.example"}`)
		there, ok := other.Find(q.ID)
		if !ok {
			t.Fatal("the other broker does not know it")
		}
		want, got := one.Look(q).Text(gate.Position.String, c.now()), there.Text(gate.Position.String, c.now())
		if got != want || bytes.Contains([]byte(got), []byte("hunter2")) || !bytes.Contains([]byte(got), []byte("$.env: 1 -> 2")) {
			t.Errorf("%s\nwant\n%s", got, want)
		}
		if string(there.Call.Meta) != `{"a":"hunter2"}` {
			t.Errorf("%s would be forwarded", there.Call.Meta)
		}
		rows, err := one.database.Approvals(t.Context(), q.ID, "", time.Time{})
		var stored struct{ Call approval.Call }
		if err != nil || len(rows) != 1 || json.Unmarshal(rows[0].Data, &stored) != nil {
			t.Fatalf("%v, %d rows", err, len(rows))
		}
		if string(stored.Call.Arguments) != `{"env":2,"pin":"***","url":"https://u@evil.example"}` || bytes.Contains(rows[0].Data, []byte("hunter2")) {
			t.Errorf("%s", rows[0].Data)
		}
	})
}
