package admission_test

import (
	"encoding/json"
	"errors"
	"strings"
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
			pass, err := ticket.NewPass(t.Context(), d.Admission)
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
		if d.StopOf("s") == nil {
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

// TestTicketWithoutNames: a ticket that an older version stored does not have the names of its call.
// If the policy has conditions on results, a success of the call is unknown, whatever the result: it
// is not evidence, and the call stays open.
func TestTicketWithoutNames(t *testing.T) {
	plain := policyOf(t, nets()...)
	strict, err := gate.NewPolicy(nets(), gate.PolicyOptions{Labels: []*gate.Labels{{Successes: []gate.Condition{{Tool: "backup", Source: "ok", Judge: saysOK{}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name             string
		policy           *gate.Policy
		end              gate.End
		outcome, marking string
	}{
		{"the condition is violated", strict, gate.End{Outcome: gate.Success, Text: "1 test failed"}, "unknown", "ready:1 (1 in flight)"},
		{"the condition holds", strict, gate.End{Outcome: gate.Success, Text: "ok"}, "unknown", "ready:1 (1 in flight)"},
		{"the call failed", strict, gate.End{Outcome: gate.Failure}, "failure", "ready:1"},
		{"no condition", plain, gate.End{Outcome: gate.Success}, "success", "saved:1"},
	} {
		d := newFixture(t, nil)
		if _, err := d.Swap(t.Context(), admission.NewGeneration(c.policy, nil), admission.SwapOptions{}); err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(d.admit("backup"))
		if err != nil {
			t.Fatal(err)
		}
		var stored map[string]any
		if err := json.Unmarshal(data, &stored); err != nil {
			t.Fatal(err)
		}
		delete(stored, "called")
		delete(stored, "also")
		if data, err = json.Marshal(stored); err != nil {
			t.Fatal(err)
		}
		ticket := &admission.Ticket{}
		if err := json.Unmarshal(data, ticket); err != nil {
			t.Fatal(err)
		}
		if _, err := ticket.NewPass(t.Context(), d.Admission); err != nil {
			t.Fatal(err)
		}
		d.Settle(t.Context(), ticket, c.end, "")
		if got := d.disk.said(t); !strings.HasSuffix(got[len(got)-1], c.outcome) {
			t.Errorf("%s: %q, want %s", c.name, got[len(got)-1], c.outcome)
		}
		d.want("backup", c.marking)
		if c.outcome != "success" {
			d.refuse("delete", "blocked")
		}
	}
}

// saysOK is a judge that wants the text ok.
type saysOK struct{}

func (saysOK) Holds(_ *gate.Call, _ []byte, text string, _ int) bool { return text == "ok" }

// TestConditionsOfAdmittingPolicy: the conditions of the policy that admitted a call judge its
// result, also after a reload, and also if another process has passed on its ticket.
func TestConditionsOfAdmittingPolicy(t *testing.T) {
	plain, err := gate.NewPolicy(nil, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	strict, err := gate.NewPolicy(nil, gate.PolicyOptions{Labels: []*gate.Labels{{Successes: []gate.Condition{{Tool: "backup", Source: "ok", Judge: saysOK{}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name             string
		admitting, ended *gate.Policy
		outcome          string
	}{
		{"the condition is removed", strict, plain, "failure"},
		{"the condition is added", plain, strict, "success"},
		{"no reload", strict, strict, "failure"},
	} {
		for _, passed := range []bool{false, true} {
			d := newFixture(t, nil)
			swap := func(p *gate.Policy) {
				t.Helper()
				if _, err := d.Swap(t.Context(), admission.NewGeneration(p, nil), admission.SwapOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			swap(c.admitting)
			ticket := d.admit("backup")
			if passed {
				data, err := json.Marshal(ticket)
				if err != nil {
					t.Fatal(err)
				}
				ticket = &admission.Ticket{}
				if err := json.Unmarshal(data, ticket); err != nil {
					t.Fatal(err)
				}
				if _, err := ticket.NewPass(t.Context(), d.Admission); err != nil {
					t.Fatal(err)
				}
			}
			if c.ended != c.admitting {
				swap(c.ended)
			}
			if _, text := d.ReadsResult(ticket); text != (c.admitting == strict) {
				t.Errorf("%s, passed on %t: reads the text: %t", c.name, passed, text)
			}
			d.Settle(t.Context(), ticket, gate.End{Outcome: gate.Success, Text: "1 test failed"}, "")
			if got := d.disk.said(t); !strings.HasSuffix(got[len(got)-1], c.outcome) {
				t.Errorf("%s, passed on %t: %q, want %s", c.name, passed, got[len(got)-1], c.outcome)
			}
		}
	}
}
