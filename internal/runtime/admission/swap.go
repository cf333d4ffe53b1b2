package admission

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/petrigate/petrigate/internal/logkind"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// inForce holds the [Generation] in force.
type inForce struct {
	atomic.Pointer[Generation]
	swapMu sync.Mutex // held during a swap
}

// awaitSwap waits until the current swap has finished.
func (f *inForce) awaitSwap() {
	f.swapMu.Lock()   // once the lock is free, the new generation is in force
	f.swapMu.Unlock() //nolint:staticcheck,gocritic // locked only to wait
}

// Generation returns the generation in force. Call it once per request, so that the whole request
// uses one generation.
func (a *Admission) Generation() *Generation { return a.generation.Load() }

// Report describes what [Admission.Swap] did to the sessions and the shared nets.
type Report struct{ Sessions []Adopted }

// SwapOptions configures [Admission.Swap]. The zero value is valid.
type SwapOptions struct {
	Reset  []string      // nets to reset to their initial states; they do not cause [ErrHeld]
	Try    bool          // whether to report the effect of the swap without changing anything
	Events []audit.Event // events to record with the swap
}

// Swap replaces the generation in force with g, and converts the nets' states as described at
// [gate.Policy.Adopt]. A net that an operator has switched on or off stays on or off. Calls that
// are in flight or waiting for approval keep their call numbers. An approval given under another
// policy no longer admits a call.
//
// If Swap returns an error, the old generation stays in force. If the error is [ErrHeld], the
// report lists the nets that could not be converted.
func (a *Admission) Swap(ctx context.Context, g *Generation, o SwapOptions) (Report, error) {
	a.generation.swapMu.Lock()
	defer a.generation.swapMu.Unlock()
	next := *g
	next.setActive(a.generation.Load().keepSwitches(g.Policy, g.Active))
	return a.swap(ctx, &next, o)
}

// swap implements Swap; swapMu must be held.
func (a *Admission) swap(ctx context.Context, g *Generation, o SwapOptions) (Report, error) {
	if g.Fingerprint != a.Generation().Fingerprint {
		o.Events = append(o.Events, a.records.policyEvent(g))
	}
	sessions, err := a.ledger.Adopt(ctx, Adoption{Policy: g.Policy, Active: g.Active, Reset: o.Reset, Time: a.now(), Events: o.Events, Try: o.Try})
	if err == nil && !o.Try {
		a.generation.Store(g)
	}
	return Report{sessions}, err
}

// SwitchNet activates or deactivates a net in all sessions, including future ones. A deactivated
// net keeps its state and resumes from it when activated again. If the change cannot be recorded,
// nothing changes.
func (a *Admission) SwitchNet(ctx context.Context, name string, on bool, actor string) error {
	a.generation.swapMu.Lock()
	defer a.generation.swapMu.Unlock()
	g := *a.generation.Load()
	active, err := g.Policy.Switch(g.Active, name, on)
	if err != nil {
		return err
	}
	g.setActive(active)
	event := "deactivate"
	if on {
		event = "activate"
	}
	a.log.Warn("operator", logkind.Operator, "event", event, "net", name, "actor", actor)
	_, err = a.swap(ctx, &g, SwapOptions{Events: []audit.Event{audit.Switch{Time: a.now(), Event: event, Net: name, Actor: actor}}})
	return err
}
