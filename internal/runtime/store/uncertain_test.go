package store_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// Records fails if blind is set.
func (f *faulty) Records(ctx context.Context, q backend.Query) iter.Seq2[backend.Record, error] {
	if f.blind.Load() {
		return func(yield func(backend.Record, error) bool) { yield(backend.Record{}, errAway) }
	}
	return f.Backend.Records(ctx, q)
}

var errUncertain error = fmt.Errorf("the connection broke: %w", backend.ErrUncertain)

// TestUncertainCommitIsResolved: after a commit with an unknown outcome, the records show which steps
// took effect. An admitted call whose caller was refused is settled.
func TestUncertainCommitIsResolved(t *testing.T) {
	f := &faulty{Backend: database(t, place(t))}
	l := limit("all", 2, gate.ScopeGlobal)
	l.Transitions[0].Deferred = true // a failure returns the unit
	d, k := durable(t, f, policyOf(t, l), nil), admission.Key{Session: "s"}
	begin(t, d, k)

	f.after.Store(&errUncertain) // the commit took effect, which is detected immediately
	number, err := admit(t.Context(), d, k, gate.Call{Tool: "all"})
	if number == 0 || err != nil {
		t.Fatal(number, err)
	}
	f.after.Store(nil)
	f.before.Store(&errUncertain) // the commit had no effect, and is repeated
	retried := make(chan error)
	go func() { retried <- finish(t.Context(), d, k, number, gate.Success) }()
	for d.Ready() == nil { // the first commit has failed
		continue
	}
	f.before.Store(nil)
	if err := <-retried; err != nil {
		t.Error(err)
	}

	f.after.Store(&errUncertain) // the commit took effect, but the caller got an error
	f.blind.Store(true)
	if number, err := admit(t.Context(), d, k, gate.Call{Tool: "all"}); number != 0 || !errors.Is(err, backend.ErrUncertain) {
		t.Error(number, err)
	}
	f.after.Store(nil)
	if _, err := admit(t.Context(), d, k, gate.Call{Tool: "other"}); !errors.Is(err, errAway) {
		t.Errorf("%v: something was committed before the doubt was over", err)
	}
	f.blind.Store(false)
	if err := d.Ready(); err != nil {
		t.Error(err)
	}
	if _, err := admit(t.Context(), d, k, gate.Call{Tool: "other"}); err != nil {
		t.Error(err)
	}
	passes(t, d, k, "all", true) // the call whose admission was never reported is settled
	passes(t, d, k, "all", false)
	if by := outcomes(t, f.Backend); by != "petrigate: the call was never sent" {
		t.Errorf("settled by %q", by)
	}
}

// outcomes returns the actors in the outcomes of calls that were never sent.
func outcomes(t *testing.T, b backend.Backend) (by string) {
	t.Helper()
	for r, err := range b.Records(t.Context(), backend.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		if _, found, ok := strings.Cut(string(r.Object), `"by":"`); ok {
			by += strings.TrimRight(found, `"}`)
		}
	}
	return by
}

// TestUncopiedCallIsNotSent: records are also written to a file. A call whose record could not be
// written there is not sent, and is settled.
func TestUncopiedCallIsNotSent(t *testing.T) {
	full := false
	b, file := database(t, place(t)), &disk{full: func() bool { return full }}
	p, k := policyOf(t, limit("all", 3, gate.ScopeGlobal)), admission.Key{Session: "s"}
	d := store.NewDurable(t.Context(), store.DurableOptions{Backend: b, Policy: p, Recorder: audit.NewRecorder(file, time.Now)})
	begin(t, d, k)
	number, err := admit(t.Context(), d, k, gate.Call{Tool: "all"})
	if err != nil {
		t.Fatal(err)
	}
	full = true
	if number, err := admit(t.Context(), d, k, gate.Call{Tool: "all"}); number != 0 || !errors.Is(err, audit.ErrUnrecorded) {
		t.Error(number, err)
	}
	full = false
	if err := finish(t.Context(), d, k, number, gate.Success); err != nil {
		t.Error(err)
	}
	if err := d.View(t.Context(), k, func(s *gate.State) {
		if len(s.Calls) > 0 {
			t.Errorf("%+v are open", s.Open())
		}
	}); err != nil {
		t.Error(err)
	}
	if by := outcomes(t, b); by != "petrigate: the call was never sent" || len(file.records) != 2 {
		t.Errorf("settled by %q; in the file: %q", by, file.records)
	}
}

// TestApprovalIsUsedOnce: of several processes, only the first uses up an approval.
func TestApprovalIsUsedOnce(t *testing.T) {
	path := place(t)
	b := database(t, path)
	if _, err := b.PutApproval(t.Context(), backend.Approval{ID: "q", Key: "k", State: backend.Approved, Expires: soon()}); err != nil {
		t.Fatal(err)
	}
	p := policyOf(t, limit("all", 9, gate.ScopeGlobal))
	for i, want := range []error{nil, approval.ErrUsed} {
		d, k := durable(t, database(t, path), p, nil), admission.Key{Session: fmt.Sprint(i)}
		begin(t, d, k)
		err := admission.Update(t.Context(), d, k, func(s *gate.State) (admission.Change, error) {
			_, delta := s.Policy().Decide(s, gate.Call{Tool: "all"}, nil)
			return admission.Change{Delta: delta, Admits: true, Uses: "q"}, nil
		})
		if !errors.Is(err, want) {
			t.Errorf("process %d: %v, want %v", i, err, want)
		}
		if err := d.View(t.Context(), k, func(s *gate.State) {
			if (len(s.Calls) == 0) != (want != nil) {
				t.Errorf("process %d: %+v are open", i, s.Open())
			}
		}); err != nil {
			t.Error(err)
		}
	}
}

// TestStopRefusesCommit: a stop from another process refuses the step at its commit.
func TestStopRefusesCommit(t *testing.T) {
	path := place(t)
	a, b := database(t, path), database(t, path)
	d, k := durable(t, a, policyOf(t, limit("all", 1, gate.ScopeGlobal)), nil), admission.Key{Session: "s"}
	begin(t, d, k)
	if err := b.SetStop(t.Context(), backend.Stop{Actor: "ann"}, true); err != nil {
		t.Fatal(err)
	}
	if number, err := admit(t.Context(), d, k, gate.Call{Tool: "all"}); number != 0 || !errors.Is(err, admission.ErrStopped) {
		t.Error(number, err)
	}
	if err := b.SetStop(t.Context(), backend.Stop{}, false); err != nil {
		t.Fatal(err)
	}
	passes(t, d, k, "all", true)
}

// TestUncertainOutcomeIsRecordedOnce: if the commit of an outcome takes effect but its result is
// unknown, a second attempt leaves the outcome on record once.
func TestUncertainOutcomeIsRecordedOnce(t *testing.T) {
	f := &faulty{Backend: database(t, place(t))}
	l := limit("all", 1, gate.ScopeGlobal)
	l.Transitions[0].Deferred = true
	p, k := policyOf(t, l), admission.Key{Session: "s"}
	a := admission.New(admission.Options{Ledger: durable(t, f, p, nil), Generation: admission.NewGeneration(p, nil)})
	if err := a.Sessions.Open(t.Context(), admission.SessionInfo{Key: k, Since: time.Now()}); err != nil {
		t.Fatal(err)
	}
	call := func() admission.Decision {
		return a.Decide(t.Context(), &admission.Call{Key: k, Gate: gate.Call{Tool: "all", Time: time.Now()}, Tool: "all"})
	}
	first, ok := call().(*admission.Admitted)
	if !ok {
		t.Fatal("the first call is refused")
	}
	f.after.Store(&errUncertain)
	f.blind.Store(true)
	a.Settle(t.Context(), &first.Ticket, gate.End{Outcome: gate.Failure}, "")
	if kept := a.Unwritten.List(); len(kept) != 1 || kept[0].Outcome != "failure" {
		t.Errorf("%+v are kept", kept)
	}
	f.after.Store(nil)
	f.blind.Store(false)
	if _, ok := call().(*admission.Admitted); !ok || len(a.Unwritten.List()) > 0 {
		t.Errorf("a call that failed holds the token; %+v are kept", a.Unwritten.List())
	}
	n := 0
	for r, err := range f.Records(t.Context(), backend.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		n += strings.Count(string(r.Object), `"event":"outcome"`)
	}
	if n != 1 {
		t.Errorf("%d outcomes are on record", n)
	}
}
