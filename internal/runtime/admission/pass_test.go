package admission_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store"
)

// TestPassForSendingAgain: an admitted call may be sent again while nothing is stopped and the policy that
// admitted it is in force, also if another process has passed on its ticket.
func TestPassForSendingAgain(t *testing.T) {
	d := newFixture(t, nil)
	kill := store.NewStops(audit.NewRecorder(d.disk, time.Now))
	d.Admission = admission.New(admission.Options{Ledger: d.ledger, Generation: d.Generation(), Now: func() time.Time { return now }, Switch: kill})
	own := d.admit("backup")
	passed := &admission.Ticket{}
	data, err := json.Marshal(own)
	if err == nil {
		err = json.Unmarshal(data, passed)
	}
	if err != nil {
		t.Fatal(err)
	}
	again := func(when string, want error) {
		t.Helper()
		for _, ticket := range []*admission.Ticket{own, passed} {
			pass, err := ticket.Again(t.Context(), d.Admission)
			if !errors.Is(err, want) || err == nil && pass.Ticket() != ticket {
				t.Errorf("%s: %v, want %v", when, err, want)
			}
		}
	}
	again("at once", nil)
	for _, stop := range []admission.Stop{{Actor: "ann"}, {Session: "s", Actor: "ann"}} {
		if _, err := d.SetStopped(t.Context(), true, stop); err != nil {
			t.Fatal(err)
		}
		again("stopped", admission.ErrStopped)
		if d.Stopped("s") == nil {
			t.Error("the stop is not known")
		}
		if _, err := d.SetStopped(t.Context(), false, stop); err != nil {
			t.Fatal(err)
		}
	}
	net := d.Generation().Policy.Nets()[0].Name
	if err := d.SwitchNet(t.Context(), net, false, "ann"); err != nil {
		t.Fatal(err)
	}
	again("a net is switched off", admission.ErrOutdated)
	if err := d.SwitchNet(t.Context(), net, true, "ann"); err != nil {
		t.Fatal(err)
	}
	again("it is switched on", nil)
	other, err := gate.NewPolicy(nil, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Swap(t.Context(), admission.NewGeneration(other, nil), admission.SwapOptions{}); err != nil {
		t.Fatal(err)
	}
	again("another policy", admission.ErrOutdated)
}
