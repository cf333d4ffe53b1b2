package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/store"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/journal"
	"github.com/petrigate/petrigate/internal/soak"
	"github.com/petrigate/petrigate/rules"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(childPath); path != "" {
		child(path)
	}
	goleak.VerifyTestMain(m)
}

// place returns the path of a database in a new directory.
func place(t testing.TB) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "state", "petrigate.db")
}

// database opens a database until the end of the test.
func database(t testing.TB, path string) backend.Backend {
	t.Helper()
	b, err := journal.Open(t.Context(), journal.Options{Path: path, Sync: journal.Normal})
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

func durable(t testing.TB, b backend.Backend, p *gate.Policy, active []string) *store.Durable {
	t.Helper()
	d := store.NewDurable(t.Context(), store.DurableOptions{Backend: b, Policy: p, Active: active})
	return d
}

func soon() time.Time { return time.Now().Add(time.Hour) }

func begin(t testing.TB, l admission.Ledger, keys ...admission.Key) {
	t.Helper()
	for _, k := range keys {
		if err := l.Open(t.Context(), admission.SessionInfo{Key: k, Since: time.Now(), Lasting: k.Principal == "lasting"}); err != nil {
			t.Fatal(err)
		}
	}
}

func passes(t *testing.T, l admission.Ledger, k admission.Key, tool string, want bool) {
	t.Helper()
	if passed, err := try(t, l, k, tool); err != nil || passed != want {
		t.Helper()
		t.Errorf("%s in session %s: %t, %v, want %t", tool, k.Session, passed, err, want)
	}
}

// TestRestart: a spent use stays spent for every process.
func TestRestart(t *testing.T) {
	p, path := policyOf(t, limit("own", 2, gate.ScopeSession), limit("shared", 2, gate.ScopePrincipal), limit("all", 3, gate.ScopeGlobal)), place(t)
	k, other := admission.Key{Session: "s", Principal: "lasting"}, admission.Key{Session: "o", Principal: "lasting"}
	for range 2 {
		d := durable(t, database(t, path), p, nil)
		begin(t, d, k)
		for _, tool := range []string{"own", "shared", "all"} {
			passes(t, d, k, tool, true)
		}
		if err := d.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	d := durable(t, database(t, path), p, nil)
	passes(t, d, k, "own", false) // the session was not opened in this process
	begin(t, d, k, other)
	for _, c := range []struct {
		key  admission.Key
		tool string
		want bool
	}{{k, "own", false}, {k, "shared", false}, {other, "own", true}, {other, "shared", false}, {other, "all", true}, {k, "all", false}} {
		passes(t, d, c.key, c.tool, c.want)
	}
}

// TestProcessesShareState: each of two processes sees the calls that the other has admitted or
// settled.
func TestProcessesShareState(t *testing.T) {
	p, path := policyOf(t, limit("all", 3, gate.ScopeGlobal)), place(t)
	a, b := durable(t, database(t, path), p, nil), durable(t, database(t, path), p, nil)
	ann, bob := admission.Key{Session: "1"}, admission.Key{Session: "2"}
	begin(t, a, ann)
	begin(t, b, bob)
	passes(t, a, ann, "all", true)
	passes(t, b, bob, "all", true)
	passes(t, a, ann, "all", true)
	passes(t, b, bob, "all", false)
	passes(t, a, ann, "all", false)
	if err := admission.Update(t.Context(), b, bob, func(s *gate.State) (admission.Change, error) {
		return admission.Change{Delta: s.Policy().Reset(s)}, nil
	}); err != nil {
		t.Error(err)
	}
	passes(t, a, ann, "all", false) // the net is shared, so no session can undo the change
}

// TestEndedSessionIsForgotten: an ended session is forgotten when its last call has ended.
func TestEndedSessionIsForgotten(t *testing.T) {
	p, b := policyOf(t, limit("own", 2, gate.ScopeSession)), database(t, place(t))
	d, k := durable(t, b, p, nil), admission.Key{Session: "s", Principal: "ann"}
	begin(t, d, k)
	var number uint64
	if err := admission.Update(t.Context(), d, k, func(s *gate.State) (admission.Change, error) {
		verdict, delta := s.Policy().Decide(s, gate.Call{Tool: "own"}, nil)
		number = verdict.(*gate.Allow).Ticket.Number
		return admission.Change{Delta: delta, Admits: true}, nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := d.End(t.Context(), k); err != nil {
		t.Error(err)
	}
	if parts, err := b.Load(t.Context(), backend.PartID{Scope: backend.Session, Name: "s"}); err != nil || parts[0].Version == 0 {
		t.Errorf("%+v, %v", parts, err)
	}
	if err := admission.Update(t.Context(), d, k, func(s *gate.State) (admission.Change, error) {
		return admission.Change{Delta: s.Policy().Settle(s, number, gate.Success)}, nil
	}); err != nil {
		t.Error(err)
	}
	if parts, err := b.Load(t.Context(), backend.PartID{Scope: backend.Session, Name: "s"}); err != nil || parts[0].Version != 0 {
		t.Errorf("%+v, %v", parts, err)
	}
	if err := d.View(t.Context(), k, func(*gate.State) {}); !errors.Is(err, admission.ErrNoSession) {
		t.Error(err)
	}
}

// TestOtherPolicy: a process with another policy converts the stored states: limits keep their
// uses, and a net written by hand is held until it is reset.
func TestOtherPolicy(t *testing.T) {
	limited := func(n int) *gate.Policy {
		hand := limit("own", n, gate.ScopeSession)
		return policyOf(t, append(nets(t, fmt.Sprintf("limit x to %d per session", n)), hand)...)
	}
	path, k, other := place(t), admission.Key{Session: "s", Principal: "lasting"}, admission.Key{Session: "o", Principal: "lasting"}
	d := durable(t, database(t, path), limited(3), nil)
	begin(t, d, k, other)
	passes(t, d, k, "x", true)
	passes(t, d, k, "x", true)
	passes(t, d, other, "own", true)

	d = durable(t, database(t, path), limited(2), nil)
	passes(t, d, k, "x", false)
	d = durable(t, database(t, path), limited(4), nil)
	passes(t, d, k, "x", true)
	passes(t, d, k, "x", true)
	passes(t, d, k, "x", false)
	if passed, err := try(t, d, other, "own"); passed || !errors.Is(err, admission.ErrHeld) {
		t.Error(passed, err)
	}
	if _, err := d.Adopt(t.Context(), admission.Adoption{Policy: limited(4), Reset: []string{"own"}}); err != nil {
		t.Fatal(err)
	}
	passes(t, d, other, "own", true)
}

// TestEvictedSessionsAreReadAgain: stored sessions leave the cache, and are read again when needed.
func TestEvictedSessionsAreReadAgain(t *testing.T) {
	t.Parallel()
	soak.Bulk(t)
	const sessions = 12_000
	d := durable(t, database(t, place(t)), policyOf(t, limit("own", 1, gate.ScopeSession)), nil)
	key := func(i int) admission.Key { return admission.Key{Session: fmt.Sprint(i), Principal: "lasting"} }
	var commits []admission.Commit
	for i := range sessions {
		begin(t, d, key(i))
		c, err := d.Stage(t.Context(), key(i), func(s *gate.State) (admission.Change, error) {
			_, delta := s.Policy().Decide(s, gate.Call{Tool: "own"}, nil)
			return admission.Change{Delta: delta, Admits: true}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		commits = append(commits, c) // more steps than fit into the queue
	}
	for i, c := range commits {
		if err := c.Wait(t.Context()); err != nil {
			t.Fatal(i, err)
		}
	}
	begin(t, d, key(sessions))
	for i := 0; i < sessions; i += 997 {
		if number, err := admit(t.Context(), d, key(i), gate.Call{Tool: "own"}); number != 0 || err != nil {
			t.Fatal(i, number, err)
		}
	}
	n := 0
	for _, err := range d.Sessions(t.Context()) {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	if n != sessions+1 {
		t.Errorf("%d sessions are listed, want %d", n, sessions+1)
	}
}

// nets returns the nets of a rules file.
func nets(t testing.TB, text string) []gate.Net {
	t.Helper()
	f, errs := rules.Parse("r", []byte(text))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	c, err := rules.Compile(f)
	if err != nil {
		t.Fatal(err)
	}
	return c.Nets
}
