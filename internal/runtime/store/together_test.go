package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// admit decides a call in a session and returns its number, or 0 if the call is refused.
func admit(ctx context.Context, l admission.Ledger, k admission.Key, c gate.Call) (number uint64, err error) {
	err = admission.Update(ctx, l, k, func(s *gate.State) (admission.Change, error) {
		number = 0
		d, delta := s.Policy().Decide(s, c, nil)
		if a, ok := d.(*gate.Allow); ok {
			number = a.Ticket.Number
			return admission.Change{Delta: delta, Admits: true, Events: []audit.Event{audit.Decision{Session: k.Session, Call: number, Tool: c.Tool}}}, nil
		}
		return admission.Change{Delta: delta}, nil
	})
	if err != nil {
		number = 0
	}
	return number, err
}

func finish(ctx context.Context, l admission.Ledger, k admission.Key, number uint64, o gate.Outcome) error {
	return admission.Update(ctx, l, k, func(s *gate.State) (admission.Change, error) {
		return admission.Change{Delta: s.Policy().Settle(s, number, o), Events: []audit.Event{audit.Outcome{Session: k.Session, Call: number}}}, nil
	})
}

// TestProcessesShareLimit: many sessions in several processes together never pass more calls than the
// limit, and exactly as many if some calls fail.
func TestProcessesShareLimit(t *testing.T) {
	const budget, clients, calls, procs = 40, 4, 15, 3
	all := limit("all", budget, gate.ScopeGlobal)
	all.Transitions[0].Deferred = true // a failure returns the unit
	once := gate.Net{Name: "once", Scope: gate.ScopePrincipal, Places: []string{"free"}, Initial: map[string]int{"free": 1},
		Transitions: []gate.Transition{{Name: "t", Inputs: []string{"free"}, Outputs: []string{"free"}, Tools: gate.Tools("one"), Deferred: true}}}
	p, path := policyOf(t, all, once, limit("own", 5, gate.ScopeSession)), place(t)
	var spent, own, running atomic.Int64
	var wait sync.WaitGroup
	for process := range procs {
		d := durable(t, database(t, path), p, nil)
		for client := range clients {
			k := admission.Key{Session: fmt.Sprint(process, "-", client), Principal: "ann"}
			begin(t, d, k)
			wait.Go(func() {
				for i := range calls {
					tool := []string{"all", "own", "one"}[i%3]
					number, err := admit(t.Context(), d, k, gate.Call{Tool: tool})
					if err != nil {
						t.Error(err)
					}
					if number == 0 {
						continue
					}
					o := gate.Success
					switch {
					case tool == "own":
						own.Add(1)
					case tool == "one":
						if running.Add(1) > 1 {
							t.Error("two calls at once")
						}
						running.Add(-1)
					case (client+i)%4 == 0:
						o = gate.Failure
					default:
						spent.Add(1)
					}
					if err := finish(t.Context(), d, k, number, o); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wait.Wait()
	if own.Load() != procs*clients*5 {
		t.Errorf("%d calls of sessions with a limit of 5 passed", own.Load())
	}
	d := durable(t, database(t, path), p, nil)
	k := admission.Key{Session: "last", Principal: "ann"}
	begin(t, d, k)
	for {
		number, err := admit(t.Context(), d, k, gate.Call{Tool: "all"})
		if err != nil {
			t.Fatal(err)
		}
		if number == 0 {
			break
		}
		spent.Add(1)
		if err := finish(t.Context(), d, k, number, gate.Success); err != nil {
			t.Fatal(err)
		}
	}
	for s, err := range d.Sessions(t.Context()) {
		if err := d.View(t.Context(), s.Key, func(state *gate.State) {
			if open := state.Open(); len(open) > 0 {
				t.Errorf("in session %s are open: %+v", s.Session, open)
			}
		}); err != nil {
			t.Error(err)
		}
		if err != nil {
			t.Error(err)
		}
	}
	if spent.Load() != budget {
		t.Errorf("%d calls passed a limit of %d", spent.Load(), budget)
	}
}

// TestCrashedCallStaysOpen: a call whose process ended before the outcome is open.
func TestCrashedCallStaysOpen(t *testing.T) {
	p, path := policyOf(t, limit("all", 1, gate.ScopeGlobal)), place(t)
	k := admission.Key{Session: "s", Principal: "ann"}
	b := database(t, path)
	d := durable(t, b, p, nil)
	begin(t, d, k)
	number, err := admit(t.Context(), d, k, gate.Call{Tool: "all"})
	if number == 0 || err != nil {
		t.Fatal(number, err)
	}
	after := durable(t, database(t, path), p, nil)
	found := false
	for s, err := range after.Sessions(t.Context()) {
		if found = s.Key == k && s.Process == b.Writer() && !s.Gone; err != nil {
			t.Fatal(err)
		}
	}
	if !found {
		t.Error("the session is not listed")
	}
	var open []gate.Holder
	if err := after.View(t.Context(), k, func(s *gate.State) { open = s.Open() }); err != nil || len(open) != 1 || open[0].Number != number {
		t.Errorf("%+v, %v", open, err)
	}
	other := admission.Key{Session: "other", Principal: "bob"}
	begin(t, after, other)
	if again, err := admit(t.Context(), after, other, gate.Call{Tool: "all"}); again != 0 || err != nil {
		t.Error(again, err)
	}
	if err := finish(t.Context(), after, k, number, gate.Failure); err != nil {
		t.Error(err)
	}
	if err := d.View(t.Context(), k, func(s *gate.State) { open = s.Open() }); err != nil || len(open) != 0 {
		t.Errorf("%+v, %v", open, err)
	}
}

// faulty is a database that fails on request.
type faulty struct {
	backend.Backend
	before, after atomic.Pointer[error] // error of a commit: before it has an effect, or afterwards
	blind         atomic.Bool           // reads of records fail
}

var errAway = errors.New("the database is away")

func (f *faulty) Commit(ctx context.Context, ops []*backend.Op) error {
	if err := f.before.Load(); err != nil {
		return *err
	}
	if err := f.Backend.Commit(ctx, ops); err != nil {
		return err
	}
	if err := f.after.Load(); err != nil {
		return *err
	}
	return nil
}

func (f *faulty) Ready(ctx context.Context) error {
	if err := f.before.Load(); err != nil {
		return *err
	}
	return f.Backend.Ready(ctx)
}

// TestDatabaseOutage: while the database fails, nothing is spent and nothing is lost; afterwards calls work
// again without intervention.
func TestDatabaseOutage(t *testing.T) {
	f := &faulty{Backend: database(t, place(t))}
	d, k := durable(t, f, policyOf(t, limit("all", 2, gate.ScopeGlobal)), nil), admission.Key{Session: "s"}
	begin(t, d, k)
	passes(t, d, k, "all", true)
	f.before.Store(&errAway)
	for range 3 {
		if number, err := admit(t.Context(), d, k, gate.Call{Tool: "all"}); number != 0 || !errors.Is(err, errAway) {
			t.Error(number, err)
		}
		if err := d.Ready(); !errors.Is(err, errAway) {
			t.Error(err)
		}
	}
	f.before.Store(nil)
	if err := d.Ready(); err != nil {
		t.Error(err)
	}
	passes(t, d, k, "all", true)
	passes(t, d, k, "all", false)
}

var _ admission.Ledger = (*store.Durable)(nil)
