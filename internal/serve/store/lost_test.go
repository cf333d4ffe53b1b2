package store

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/serve/admission"
	"github.com/petrigate/petrigate/internal/serve/audit"
)

// TestLost: of the calls of a session that two processes have, those are lost that were
// admitted by the one that has ended.
func TestLost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "db")
	p, err := gate.NewPolicy(nil, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	k := admission.Key{Session: "lasting", Principal: "ann"}
	begun := time.Now()
	admit := func(d *Durable, session string) {
		t.Helper()
		k := admission.Key{Session: session, Principal: "ann"}
		if err := d.Open(t.Context(), admission.SessionInfo{Key: k, Since: begun, Lasting: true}); err != nil {
			t.Fatal(err)
		}
		if err := admission.Update(t.Context(), d, k, func(s *gate.State) (admission.Change, error) {
			allow, delta := s.Policy().Decide(s, gate.Call{Tool: "x", Time: time.Now()}, nil)
			event := &audit.Decision{Time: time.Now(), Event: "decision", Session: session, Call: allow.(*gate.Allow).Ticket.Number}
			return admission.Change{Delta: delta, Events: []audit.Event{event}, Admits: true}, nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	a, b := process(t, path, p), process(t, path, p)
	admit(a, k.Session)
	admit(b, k.Session)
	admit(a, k.Session)
	admit(a, "another")
	lost := func(want ...uint64) {
		t.Helper()
		got, err := b.Lost(t.Context(), k.Session, begun)
		if err != nil || len(got) != len(want) {
			t.Fatalf("%v, %v, want %v", got, err, want)
		}
		for _, n := range want {
			if got[n] != a.database.Writer() {
				t.Errorf("%v, want %v", got, want)
			}
		}
	}
	listed := func() {
		t.Helper()
		for s, err := range b.Sessions(t.Context()) {
			if err != nil || s.Open != map[string]int{"lasting": 3, "another": 1}[s.Session] {
				t.Errorf("%+v, %v", s, err)
			}
		}
	}
	pass(t, a, beat)
	pass(t, b, 2*beat)
	lost()
	listed()
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	listed()
	lost(1, 3)
	later, err := b.Lost(t.Context(), k.Session, time.Now().Add(time.Hour))
	if err != nil || len(later) != 0 {
		t.Errorf("%v, %v", later, err)
	}
	if err := b.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
