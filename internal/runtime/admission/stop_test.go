package admission_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store"
)

// TestStopRefusesCalls: during a stop no call is admitted, with or without an approval, and calls in flight
// end. All of it is on record.
func TestStopRefusesCalls(t *testing.T) {
	d := newFixture(t, nil)
	kill := store.NewStops(audit.NewRecorder(d.disk, time.Now))
	d.Admission = admission.New(admission.Options{Ledger: d.ledger, Generation: d.Generation(), Now: func() time.Time { return now }, Switch: kill})
	under := d.admit("backup")
	q, consent := d.approved()
	all, mine := admission.Stop{Actor: "ann", Reason: "maintenance."}, admission.Stop{Session: "s", Actor: "ann"}
	for _, s := range []admission.Stop{all, mine, all} {
		if _, err := d.SetStopped(t.Context(), true, s); err != nil {
			t.Fatal(err)
		}
	}
	if r := d.refuse("push", "stopped"); !strings.HasPrefix(r.Text, "Stopped: an operator has stopped all calls (maintenance).") {
		t.Error(r.Text)
	}
	if r, err := d.Redeem(t.Context(), d.call("deploy"), q, consent); err != nil || r.(*admission.Refused).Facts.Kind != "stopped" {
		t.Errorf("%+v, %v", r, err)
	}
	d.Settle(t.Context(), under, gate.End{Outcome: gate.Success}, "")
	d.want("backup", "saved:1")
	if done, err := d.SetStopped(t.Context(), false, all); done.Already || err != nil {
		t.Error(done, err)
	}
	if r := d.refuse("push", "stopped"); !strings.Contains(r.Text, "the calls of this session.") {
		t.Error(r.Text)
	}
	if left, err := d.Stops(t.Context()); err != nil || len(left) != 1 || left[0].Session != "s" {
		t.Errorf("%+v, %v", left, err)
	}
	for want, s := range map[bool]admission.Stop{false: mine, true: all} {
		if done, err := d.SetStopped(t.Context(), false, s); done.Already != want || err != nil {
			t.Error(done, err)
		}
	}
	d.admit("push")
	if r, err := d.Redeem(t.Context(), d.call("deploy"), q, consent); err != nil {
		t.Errorf("%+v, %v: the approval is used up by a call that was stopped", r, err)
	}
	want := []string{"decision allow backup", "stop", "stop", "decision refuse stopped push", "decision refuse stopped deploy",
		"outcome up.backup success", "start", "decision refuse stopped push", "start", "decision allow push", "decision allow deploy"}
	if got := d.disk.said(t); !slices.Equal(got, want) {
		t.Errorf("on record: %q, want %q", got, want)
	}
}

// TestStopInTheCommit: a stop that only the commit detects refuses the call like a known one.
func TestStopInTheCommit(t *testing.T) {
	d := newFixture(t, func(o *admission.Options) { o.Ledger = stoppedElsewhere{o.Ledger} })
	if r := d.refuse("push", "stopped"); !strings.HasPrefix(r.Text, "Stopped: an operator has stopped all calls.") {
		t.Error(r.Text)
	}
	if _, err := d.SetStopped(t.Context(), true, admission.Stop{}); err == nil {
		t.Error("there is a kill switch")
	}
}

// stoppedElsewhere is a ledger that another process has stopped.
type stoppedElsewhere struct{ admission.Ledger }

func (l stoppedElsewhere) Stage(ctx context.Context, k admission.Key, f func(*gate.State) (admission.Change, error)) (admission.Commit, error) {
	return l.Ledger.Stage(ctx, k, func(s *gate.State) (admission.Change, error) {
		change, err := f(s)
		if err == nil && change.Admits {
			err = errors.Join(errors.New("committing"), admission.ErrStopped)
		}
		return change, err
	})
}
