package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// TestClockBehind: while decisions are refused because the clock was set back, Behind reports it.
// It stops when the clock is right, or when no decision was refused for a minute.
func TestClockBehind(t *testing.T) {
	at := time.Now()
	b, p := database(t, place(t)), policyOf(t, limit("own", 9, gate.ScopeSession))
	d := store.NewDurable(t.Context(), store.DurableOptions{Backend: b, Policy: p, Now: func() time.Time { return at }})
	k := admission.Key{Session: "s", Principal: "lasting"}
	begin(t, d, k)
	decide := func(want error) {
		t.Helper()
		err := admission.Update(t.Context(), d, k, func(s *gate.State) (admission.Change, error) {
			_, delta := s.Policy().Decide(s, gate.Call{Tool: "own"}, nil)
			return admission.Change{Delta: delta, Admits: true, Events: []audit.Event{audit.Task{Time: at, Event: "task"}}}, nil
		})
		if !errors.Is(err, want) || !errors.Is(d.Clock.Behind(at), want) {
			t.Errorf("decided: %v, behind: %v, want %v", err, d.Clock.Behind(at), want)
		}
	}
	decide(nil)
	at = at.Add(-time.Hour)
	decide(backend.ErrClock)
	at = at.Add(2 * time.Minute)
	if err := d.Clock.Behind(at); err != nil {
		t.Errorf("a refusal is two minutes ago: %v", err)
	}
	decide(backend.ErrClock)
	at = at.Add(time.Hour)
	if err := d.Clock.Behind(at); err != nil {
		t.Errorf("the clock has caught up: %v", err)
	}
	decide(nil)
}
