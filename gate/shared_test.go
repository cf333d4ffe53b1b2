package gate_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/soak"
)

func scoped(scope gate.Scope, n gate.Net) gate.Net {
	n.Scope = scope
	return n
}

func newPolicy(t *testing.T, nets ...gate.Net) *gate.Policy {
	t.Helper()
	p, err := gate.NewPolicy(nets, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// family is a policy with sessions of two principals, two each.
type family struct {
	all      *gate.Shared
	each     [2]*gate.Shared
	sessions [4]*player // sessions 0 and 1 belong to the first principal
}

func newFamily(t *testing.T, nets ...gate.Net) *family {
	t.Helper()
	policy := newPolicy(t, nets...)
	f := &family{all: gate.NewShared(policy, gate.ScopeGlobal, gate.SharedOptions{})}
	for i := range f.sessions {
		if i%2 == 0 {
			f.each[i/2] = gate.NewShared(policy, gate.ScopePrincipal, gate.SharedOptions{})
		}
		f.sessions[i] = &player{t, gate.NewSession(policy, gate.SessionOptions{Principal: f.each[i/2], Global: f.all})}
	}
	return f
}

func TestScopes(t *testing.T) {
	f := newFamily(t, limitNet("x", 2, "session"), scoped(gate.ScopePrincipal, limitNet("x", 3, "session")), scoped(gate.ScopeGlobal, limitNet("x", 5, "session")))
	s := f.sessions
	s[0].allow("x")
	s[0].allow("x")
	s[0].refuse("x", gate.KindBlocked, "limit-x-2")
	s[1].allow("x")
	s[1].refuse("x", gate.KindBlocked, "limit-x-3")
	s[2].allow("x")
	s[2].allow("x")
	s[2].refuse("x", gate.KindBlocked, "limit-x-2", "limit-x-5")
	s[3].refuse("x", gate.KindBlocked, "limit-x-5") // and the other nets have spent nothing
	s[3].status("limit-x-2 (active): ready:1, budget:2", "limit-x-3 (active, principal): ready:1, budget:1", "limit-x-5 (active, global): ready:1")

	s[0].Reset()
	s[0].status("limit-x-2 (active): ready:1, budget:2", "limit-x-3 (active, principal): ready:1", "limit-x-5 (active, global): ready:1")
	f.all.Reset()
	f.each[0].Reset()
	s[1].status("limit-x-2 (active): ready:1, budget:1", "limit-x-3 (active, principal): ready:1, budget:3", "limit-x-5 (active, global): ready:1, budget:5")

	// Without a Shared, a session has its own nets and resets them.
	alone := &player{t, gate.NewSession(newPolicy(t, scoped(gate.ScopeGlobal, limitNet("x", 1, "session"))), gate.SessionOptions{})}
	alone.allow("x")
	alone.refuse("x", gate.KindBlocked, "limit-x-1")
	alone.Reset()
	alone.allow("x")
}

// TestFlightsOfOthers checks that no session settles another session's call, although sessions use
// the same call numbers.
func TestFlightsOfOthers(t *testing.T) {
	lock := scoped(gate.ScopePrincipal, handNet("n", map[string]int{"idle": 1}, "deploy: idle -> idle done [deferred] | x"))
	lock.AllowUnbounded = true
	watch := scoped(gate.ScopePrincipal, sequenceNet("y", "z"))
	f := newFamily(t, lock, watch)
	a, b := f.sessions[0], f.sessions[1]
	mine := a.allowCall(gate.Call{ID: "secret", Tool: "x", Time: noon}, nil).Ticket
	b.allow("free")
	r := b.refuseCall(gate.Call{Tool: "x", Time: noon.Add(time.Minute)}, nil, gate.KindBlocked, "n")
	if want := "Tool 'x' is not available in the current state. Call 1 of x in another session has not ended after 1m0s and holds what this call needs."; r.Text != want {
		t.Error(r.Text)
	}
	if h := r.Blocks[0].Holds[0]; !h.Other || h.ID != "" {
		t.Errorf("%+v", h)
	}
	if own := a.refuse("x", gate.KindBlocked, "n").Blocks[0].Holds[0]; own.Other || own.ID != "secret" {
		t.Errorf("%+v", own)
	}
	if !b.Nets()[0].InFlight[0].Other || a.Nets()[0].InFlight[0].Other {
		t.Error("the call is not told from those of others")
	}
	b.Settle(1, gate.Success) // its own first call
	b.status("n (active, principal): idle:1 (1 in flight)", "require-y-before-z (active, principal): ready:1")
	mine.Settle(gate.Success)
	b.status("n (active, principal): idle:1, done:1", "require-y-before-z (active, principal): ready:1")

	theirs := a.allow("y").Ticket // the second call of a
	b.allow("y").Ticket.Settle(gate.Failure)
	theirs.Settle(gate.Success)
	b.allow("z")
	f.sessions[2].refuse("z", gate.KindBlocked, "require-y-before-z")
}

func TestASessionThatGoesAway(t *testing.T) {
	f := newFamily(t, scoped(gate.ScopePrincipal, handNet("n", map[string]int{"idle": 1}, "x: idle -> done [deferred] | x")))
	ticket := f.sessions[0].allow("x").Ticket
	f.sessions[0] = nil
	f.sessions[1].status("n (active, principal): idle:1 (1 in flight)")
	ticket.Settle(gate.Success)
	f.sessions[1].status("n (active, principal): done:1")
}

func TestSwitchingASharedNet(t *testing.T) {
	policy := newPolicy(t, scoped(gate.ScopePrincipal, blockNet("x")), scoped(gate.ScopePrincipal, blockNet("y")))
	shared := gate.NewShared(policy, gate.ScopePrincipal, gate.SharedOptions{Active: []string{"block-x"}})
	a := &player{t, gate.NewSession(policy, gate.SessionOptions{Principal: shared, Active: []string{}})}
	b := &player{t, gate.NewSession(policy, gate.SessionOptions{Principal: shared})}
	a.refuse("x", gate.KindBlocked, "block-x")
	b.allow("y")
	if err := a.Deactivate("block-x"); err != nil {
		t.Fatal(err)
	}
	b.allow("x")
	shared.Reset()
	b.allow("x")
}

func TestASharedClock(t *testing.T) {
	policy := newPolicy(t, scoped(gate.ScopeGlobal, handNet("n", map[string]int{"cold": 1}, "heat: cold -> warm [1m]", "x: warm -> cold | x")))
	shared := gate.NewShared(policy, gate.ScopeGlobal, gate.SharedOptions{Time: noon})
	for range 2 {
		s := gate.NewSession(policy, gate.SessionOptions{Global: shared, Time: noon.Add(time.Minute)})
		clockPlay(t, &player{t, s}, "@0s")
	}
	clockPlay(t, &player{t, gate.NewSession(policy, gate.SessionOptions{Global: shared})}, "x@60s x@61s!=59s")
}

func TestSharedStateOfAnotherPolicy(t *testing.T) {
	one, two := newPolicy(t), newPolicy(t)
	for name, o := range map[string]gate.SessionOptions{
		"policy": {Principal: gate.NewShared(two, gate.ScopePrincipal, gate.SharedOptions{})},
		"scope":  {Global: gate.NewShared(one, gate.ScopePrincipal, gate.SharedOptions{})},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a session takes the state of another %s", name)
				}
			}()
			gate.NewSession(one, o)
		}()
	}
}

// TestOneBudgetOfManySessions makes concurrent calls in eight sessions: exactly as many pass as the
// nets in both scopes have tokens for.
func TestOneBudgetOfManySessions(t *testing.T) {
	times := soak.Count(60)
	const budget = 13
	for _, scope := range []gate.Scope{gate.ScopePrincipal, gate.ScopeGlobal} {
		t.Run(fmt.Sprint(scope), func(t *testing.T) {
			other := gate.ScopePrincipal + gate.ScopeGlobal - scope
			policy := newPolicy(t, scoped(scope, limitNet("x", budget, "session")), scoped(other, limitNet("x", 1000, "session")), limitNet("x", 1000, "session"))
			for range times {
				o := gate.SessionOptions{
					Principal: gate.NewShared(policy, gate.ScopePrincipal, gate.SharedOptions{}),
					Global:    gate.NewShared(policy, gate.ScopeGlobal, gate.SharedOptions{}),
				}
				if passed := raceSessions(policy, o); passed != budget {
					t.Fatalf("%d calls passed", passed)
				}
				s := gate.NewSession(policy, o)
				if left := s.Nets()[1].Marking.String(); !strings.HasSuffix(left, fmt.Sprint("budget:", 1000-budget)) {
					t.Fatalf("the other net is at %s", left)
				}
			}
		})
	}
}

// raceSessions makes 64 concurrent calls to x in eight sessions.
func raceSessions(policy *gate.Policy, o gate.SessionOptions) int64 {
	var passed atomic.Int64
	var wg sync.WaitGroup
	start := make(chan struct{})
	for range 8 {
		s := gate.NewSession(policy, o)
		for range 8 {
			wg.Go(func() {
				<-start
				if a, ok := s.Decide(gate.Call{Tool: "x"}, nil).(*gate.Allow); ok {
					a.Ticket.Settle(gate.Success)
					passed.Add(1)
				}
			})
		}
	}
	close(start)
	wg.Wait()
	return passed.Load()
}
