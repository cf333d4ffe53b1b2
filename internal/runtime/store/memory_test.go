package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store"
)

// limit returns a net that permits n calls of the tool.
func limit(tool string, n int, scope gate.Scope) gate.Net {
	return gate.Net{
		Name: tool, Scope: scope, Places: []string{"budget", "spent"}, Initial: map[string]int{"budget": n}, Cause: gate.CauseLimit,
		Transitions: []gate.Transition{{Name: tool, Inputs: []string{"budget"}, Outputs: []string{"spent"}, Tools: gate.Tools(tool)}},
	}
}

func policyOf(t *testing.T, nets ...gate.Net) *gate.Policy {
	t.Helper()
	p, err := gate.NewPolicy(nets, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// try decides a call in a session, and settles it.
func try(t *testing.T, m admission.Ledger, k admission.Key, tool string) (passed bool, err error) {
	t.Helper()
	var number uint64
	err = admission.Update(t.Context(), m, k, func(s *gate.State) (admission.Change, error) {
		d, delta := s.Policy().Decide(s, gate.Call{Tool: tool}, nil)
		a, ok := d.(*gate.Allow)
		if passed = ok; ok {
			number = a.Ticket.Number
		}
		return admission.Change{Delta: delta, Admits: ok}, nil
	})
	if !passed || err != nil {
		return false, err
	}
	return true, admission.Update(t.Context(), m, k, func(s *gate.State) (admission.Change, error) {
		return admission.Change{Delta: s.Policy().Settle(s, number, gate.Success)}, nil
	})
}

func memory(t *testing.T, p *gate.Policy, active []string, keys ...admission.Key) *store.Memory {
	t.Helper()
	m := store.NewMemory(p, active, nil, audit.NewRecorder(nil, time.Now))
	for _, k := range keys {
		if err := m.Open(t.Context(), admission.SessionInfo{Key: k, Since: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func ExampleMemory() {
	p, err := gate.NewPolicy(nil, gate.PolicyOptions{})
	if err != nil {
		panic(err)
	}
	ctx, k := context.Background(), admission.Key{Session: "s", Principal: "ann"}
	m := store.NewMemory(p, nil, nil, audit.NewRecorder(nil, time.Now))
	fmt.Println(m.View(ctx, k, func(*gate.State) {}))
	fmt.Println(m.Open(ctx, admission.SessionInfo{Key: k, Since: time.Now()}))
	fmt.Println(m.View(ctx, k, func(s *gate.State) { fmt.Println("calls:", s.Last) }))
	// Output:
	// the session has ended
	// <nil>
	// calls: 0
	// <nil>
}

// maker creates a ledger with sessions.
type maker func(p *gate.Policy, active []string, keys ...admission.Key) admission.Ledger

// kinds runs f with a maker for each kind of ledger.
func kinds(t *testing.T, f func(*testing.T, maker)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) {
		f(t, func(p *gate.Policy, active []string, keys ...admission.Key) admission.Ledger {
			return memory(t, p, active, keys...)
		})
	})
	t.Run("durable", func(t *testing.T) {
		f(t, func(p *gate.Policy, active []string, keys ...admission.Key) admission.Ledger {
			d := durable(t, database(t, place(t)), p, active)
			begin(t, d, keys...)
			return d
		})
	})
}

// TestSharedNetsPerScope: sessions share the nets of their principal and the global nets.
func TestSharedNetsPerScope(t *testing.T) { kinds(t, testScopes) }

func testScopes(t *testing.T, ledger maker) {
	t.Helper()
	p := policyOf(t, limit("own", 1, gate.ScopeSession), limit("shared", 1, gate.ScopePrincipal), limit("all", 1, gate.ScopeGlobal))
	keys := []admission.Key{{Session: "1", Principal: "ann"}, {Session: "2", Principal: "ann"}, {Session: "3", Principal: "bob"}}
	m := ledger(p, nil, keys...)
	for tool, want := range map[string][3]bool{"own": {true, true, true}, "shared": {true, false, true}, "all": {true, false, false}} {
		for i, k := range keys {
			if passed, err := try(t, m, k, tool); err != nil || passed != want[i] {
				t.Errorf("%s in session %s: %t, %v", tool, k.Session, passed, err)
			}
		}
	}
	var shown string
	if err := m.View(t.Context(), admission.Key{Principal: "bob"}, func(s *gate.State) {
		for _, n := range p.NetsOf(s) {
			shown += n.Marking.String() + "; "
		}
	}); err != nil || shown != "budget:1; spent:1; spent:1; " {
		t.Errorf("a session that begins now: %s, %v", shown, err)
	}
}

// TestAdoptConvertsSharedNets: a shared net is converted once, with its state, even if it has no
// session; new shared nets are shared at once.
func TestAdoptConvertsSharedNets(t *testing.T) { kinds(t, testAdopt) }

func testAdopt(t *testing.T, ledger maker) {
	t.Helper()
	old := policyOf(t, limit("all", 2, gate.ScopeGlobal), limit("shared", 1, gate.ScopePrincipal))
	ann, bob := admission.Key{Session: "1", Principal: "ann"}, admission.Key{Session: "2", Principal: "bob"}
	m := ledger(old, nil, ann)
	for _, tool := range []string{"all", "shared"} {
		if passed, err := try(t, m, ann, tool); !passed || err != nil {
			t.Fatal(passed, err)
		}
	}
	next := policyOf(t, limit("new", 1, gate.ScopeGlobal), limit("shared", 1, gate.ScopePrincipal), limit("all", 2, gate.ScopeGlobal))
	report, err := m.Adopt(t.Context(), admission.Adoption{Policy: next, Active: []string{"new", "all"}})
	if err != nil || len(report) != 2 || len(report[0].Nets) != 2 || len(report[1].Nets) != 1 || report[1].Key != (admission.Key{Principal: "ann"}) {
		t.Fatalf("%+v, %v", report, err)
	}
	if err := m.Open(t.Context(), admission.SessionInfo{Key: bob, Since: time.Now()}); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		key  admission.Key
		tool string
		want bool
	}{{bob, "all", true}, {ann, "all", false}, {ann, "new", true}, {bob, "new", false}, {ann, "shared", true}} {
		if passed, err := try(t, m, c.key, c.tool); err != nil || passed != c.want {
			t.Errorf("%d: %s in session %s: %t, %v", i, c.tool, c.key.Session, passed, err)
		}
	}
}

// TestFailedStepChangesNothing: a failed step changes neither the state nor the record.
func TestFailedStepChangesNothing(t *testing.T) { kinds(t, testNothingByHalves) }

func testNothingByHalves(t *testing.T, ledger maker) {
	t.Helper()
	k := admission.Key{Session: "1"}
	m := ledger(policyOf(t, limit("a", 1, gate.ScopeSession)), nil, k)
	no := errors.New("no")
	if err := admission.Update(t.Context(), m, k, func(s *gate.State) (admission.Change, error) {
		_, delta := s.Policy().Decide(s, gate.Call{Tool: "a"}, nil)
		return admission.Change{Delta: delta}, no
	}); !errors.Is(err, no) {
		t.Error(err)
	}
	if passed, err := try(t, m, k, "a"); !passed || err != nil {
		t.Error("a token was taken by what failed")
	}
	if err := m.End(t.Context(), k); err != nil {
		t.Error(err)
	}
	if _, err := try(t, m, k, "a"); !errors.Is(err, admission.ErrNoSession) {
		t.Error(err)
	}
}

// TestHeldNetBlocksAdopt: while a net written by hand is held, no state changes until the net is
// drained or reset. A trial changes no state either.
func TestHeldNetBlocksAdopt(t *testing.T) { kinds(t, testHeld) }

func testHeld(t *testing.T, ledger maker) {
	t.Helper()
	net := func(tokens int) gate.Net {
		n := limit("a", tokens, gate.ScopePrincipal)
		n.Name = "n"
		return n
	}
	ann := admission.Key{Session: "1", Principal: "ann"}
	m := ledger(policyOf(t, net(2)), nil, ann)
	if passed, err := try(t, m, ann, "a"); !passed || err != nil {
		t.Fatal(passed, err)
	}
	next := policyOf(t, net(9))
	for _, a := range []admission.Adoption{{Policy: next}, {Policy: next, Reset: []string{"n"}, Try: true}} {
		report, err := m.Adopt(t.Context(), a)
		if errors.Is(err, admission.ErrHeld) == a.Try || len(report) != 1 || report[0].Held() == a.Try {
			t.Fatalf("%+v, %v", report, err)
		}
	}
	left := 0
	count := func() {
		for passed := true; passed; left++ {
			passed, _ = try(t, m, ann, "a")
		}
	}
	if count(); left != 2 {
		t.Errorf("%d calls passed, want the last one of the old net", left-1)
	}
	if _, err := m.Adopt(t.Context(), admission.Adoption{Policy: next, Reset: []string{"n"}}); err != nil {
		t.Fatal(err)
	}
	if count(); left != 12 {
		t.Errorf("%d calls passed under the new net, want 9", left-3)
	}
}

// TestReopenedSessionKeepsState checks that sessions that ended with open calls do not push out a
// session that was one of them once and has begun again.
func TestReopenedSessionKeepsState(t *testing.T) {
	m := memory(t, policyOf(t, limit("own", 1, gate.ScopeSession)), nil)
	admit := func(k admission.Key) (number uint64) {
		begin(t, m, k)
		if err := admission.Update(t.Context(), m, k, func(s *gate.State) (admission.Change, error) {
			d, delta := s.Policy().Decide(s, gate.Call{Tool: "own"}, nil)
			number = d.(*gate.Allow).Ticket.Number
			return admission.Change{Delta: delta, Admits: true}, nil
		}); err != nil {
			t.Fatal(err)
		}
		return number
	}
	end := func(k admission.Key) {
		if err := m.End(t.Context(), k); err != nil {
			t.Fatal(err)
		}
	}
	k := admission.Key{Session: "s", Principal: "ann"}
	number := admit(k)
	end(k)
	if err := admission.Update(t.Context(), m, k, func(s *gate.State) (admission.Change, error) {
		return admission.Change{Delta: s.Policy().Settle(s, number, gate.Success)}, nil
	}); err != nil {
		t.Fatal(err)
	}
	admit(k)
	const most = 10_000 // sessions that are kept because they have open calls
	for i := range most + 1 {
		other := admission.Key{Session: fmt.Sprint(i), Principal: "bob"}
		admit(other)
		end(other)
		end(other) // a second end changes nothing
	}
	if passed, err := try(t, m, k, "own"); passed || err != nil {
		t.Errorf("the limit of the session: passed %t, %v", passed, err)
	}
	if passed, err := try(t, m, admission.Key{Session: "0"}, "own"); passed || !errors.Is(err, admission.ErrNoSession) {
		t.Errorf("the oldest ended session: passed %t, %v", passed, err)
	}
	if passed, err := try(t, m, admission.Key{Session: "1"}, "own"); passed || err != nil {
		t.Errorf("the second oldest: passed %t, %v", passed, err)
	}
}
