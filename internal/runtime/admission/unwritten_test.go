package admission_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/rules"
)

var errGone = errors.New("the store is gone")

// TestUnwrittenOutcomesAreKept: outcomes that cannot be recorded are kept and listed. As soon as possible they are
// recorded, each once and in order, before the next decision, which sees them.
func TestUnwrittenOutcomesAreKept(t *testing.T) {
	d := newFixture(t, nil)
	ticket, push := d.admit("backup"), d.admit("push")
	d.disk.full = true
	d.Settle(t.Context(), ticket, gate.End{Outcome: gate.Success}, "")
	d.Abandon(t.Context(), ticket) // as every caller does at the end
	d.Settle(t.Context(), push, gate.End{Outcome: gate.Unknown}, "")
	d.Settle(t.Context(), push, gate.End{Outcome: gate.Failure}, "late answer")
	var listed []string
	for _, e := range d.Unwritten.List() {
		listed = append(listed, e.Tool+" "+e.Outcome)
	}
	if want := []string{"up.backup success", "up.push unknown", "up.push failure"}; !slices.Equal(listed, want) {
		t.Errorf("%q are kept, want %q", listed, want)
	}
	r, ok := d.decide("backup").(*admission.Refused)
	if !ok || !strings.Contains(r.Text, "The outcome of call #1 of backup, made 0s ago, is unknown and holds the token. An operator can settle it (petrigate sessions settle).") {
		t.Errorf("%+v", r)
	}
	d.disk.full = false
	d.admit("delete")
	want := []string{
		"decision allow backup", "decision allow push", "resumed", "outcome up.backup success", "outcome up.push unknown", "outcome up.push failure",
		"decision allow delete",
	}
	if got := d.disk.said(t); !slices.Equal(got, want) {
		t.Errorf("on record: %q, want %q", got, want)
	}
	if kept := d.Unwritten.List(); len(kept) > 0 {
		t.Errorf("%+v are kept", kept)
	}
}

// TestUnwrittenAbandoned: an abandoned settlement is kept too.
func TestUnwrittenAbandoned(t *testing.T) {
	d := newFixture(t, nil)
	ticket := d.admit("backup")
	d.ledger.fail(errGone)
	d.Abandon(t.Context(), ticket)
	if kept := d.Unwritten.List(); len(kept) != 1 || kept[0].Outcome != "unknown" {
		t.Errorf("%+v are kept", kept)
	}
	d.ledger.fail(nil)
	s, err := d.Snapshot(t.Context(), d.key)
	if err != nil || !s.Open()[0].Unknown || len(d.Unwritten.List()) > 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestUnwrittenOver: a settlement of a call whose session is over is not kept.
func TestUnwrittenOver(t *testing.T) {
	d := newFixture(t, nil)
	ticket := d.admit("push")
	d.ledger.fail(admission.ErrNoSession)
	d.Settle(t.Context(), ticket, gate.End{Outcome: gate.Success}, "")
	if kept := d.Unwritten.List(); len(kept) > 0 {
		t.Errorf("%+v are kept", kept)
	}
}

// TestCatchUp: an outcome is recorded without a further call, and one that the ledger refuses
// although it is ready does not delay the others.
func TestCatchUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, func(o *admission.Options) { o.Now = time.Now })
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go d.Unwritten.Run(ctx)
		ticket := d.admit("backup")
		d.ledger.fail(errGone)
		d.Settle(t.Context(), ticket, gate.End{Outcome: gate.Success}, "")
		d.want("backup", "ready:1 (1 in flight)")
		d.ledger.fail(nil)
		<-time.After(3 * time.Second)
		synctest.Wait()
		if kept := d.Unwritten.List(); len(kept) > 0 {
			t.Errorf("%+v are kept", kept)
		}
		d.want("backup", "saved:1")
	})
}

// TestTooManyUnwritten: settlements beyond the limit become unknown.
func TestTooManyUnwritten(t *testing.T) {
	const most = 10_000
	d := newFixture(t, nil)
	var tickets []*admission.Ticket
	for range most + 1 {
		tickets = append(tickets, d.admit("other"))
	}
	d.disk.full = true
	for _, ticket := range tickets {
		d.Settle(t.Context(), ticket, gate.End{Outcome: gate.Success}, "")
	}
	if n := len(d.Unwritten.List()); n != most {
		t.Errorf("%d are kept", n)
	}
	d.disk.full = false
	s, err := d.Snapshot(t.Context(), d.key)
	if err != nil || len(s.Calls) != 1 || !s.Open()[0].Unknown {
		t.Errorf("%d calls are open, %v", len(s.Calls), err)
	}
}

// TestSettleRepresentedCalls: an operator settles a call together with the calls that it represents; a late
// answer belongs to one of them.
func TestSettleRepresentedCalls(t *testing.T) {
	d := newFixture(t, nil)
	open := func() []gate.Holder {
		s, err := d.Snapshot(t.Context(), d.key)
		if err != nil {
			t.Fatal(err)
		}
		return s.Open()
	}
	var first *admission.Ticket
	for range 50 {
		ticket := d.admit("other")
		if d.Abandon(t.Context(), ticket); first == nil {
			first = ticket
		}
	}
	d.Settle(t.Context(), first, gate.End{Outcome: gate.Success}, "late answer")
	if calls := open(); len(calls) != 16 || calls[0].Number != first.Number || calls[0].More != 33 {
		t.Errorf("%+v", calls)
	}
	if err := d.SettleOpen(t.Context(), d.key, first.Number, false, "ann"); err != nil || len(open()) != 15 {
		t.Errorf("%v, %+v", err, open())
	}
}

// TestUnknownEdit checks the refusal after a call of unknown outcome: nothing counts until that call
// is settled, and repeating the required call does not help.
func TestUnknownEdit(t *testing.T) {
	d := newFixture(t, nil)
	c, err := rules.Load(fstest.MapFS{"a.rules": {Data: []byte("require test before push once since edit")}}, "a.rules")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Swap(t.Context(), admission.NewGeneration(policyOf(t, c.Nets...), nil), admission.SwapOptions{}); err != nil {
		t.Fatal(err)
	}
	d.Settle(t.Context(), d.admit("edit"), gate.End{Outcome: gate.Unknown}, "")
	d.Settle(t.Context(), d.admit("test"), gate.End{Outcome: gate.Success}, "")
	r, ok := d.decide("push").(*admission.Refused)
	want := "The outcome of call #1 of edit, made 0s ago, is unknown: until it is settled, calls to test do not count. An operator can settle it (petrigate sessions settle)."
	if !ok || !strings.Contains(r.Text, want) {
		t.Errorf("%+v", r)
	}
}
