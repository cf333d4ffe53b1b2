package admission

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/petrigate/petrigate/internal/logkind"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// inForce holds the Generation in force.
type inForce struct {
	atomic.Pointer[Generation]
	swapMu sync.Mutex // held while the generation is replaced
}

// awaitSwap waits until a running swap has ended.
func (f *inForce) awaitSwap() {
	f.swapMu.Lock()   // Lock returns once the new generation is in force
	f.swapMu.Unlock() //nolint:staticcheck,gocritic // nothing is done while it is held
}

// Generation returns the generation in force. Load it once for each request.
func (a *Admission) Generation() *Generation { return a.generation.Load() }

// Report describes the effect of [Admission.Swap] on sessions and shared nets.
type Report struct{ Sessions []Adopted }

// SwapOptions configures [Admission.Swap]. Its zero value is ready to use.
type SwapOptions struct {
	Reset  []string      // nets to reset to their initial states, even if they would be held
	Try    bool          // change nothing; the report shows what a real swap would do
	Events []audit.Event // events to record with the swap
}

// Swap puts g in force; see [gate.Policy.Adopt] for the effect on states. Calls in flight and calls
// that wait for approval keep their numbers, but a consent to a question under another policy
// admits nothing. Nets that operators have switched keep their settings. After an error the old
// generation stays in force; with [ErrHeld] the report lists the held nets.
func (a *Admission) Swap(ctx context.Context, g *Generation, o SwapOptions) (Report, error) {
	a.generation.swapMu.Lock()
	defer a.generation.swapMu.Unlock()
	next := *g
	next.Active = a.generation.Load().keepSwitches(g.Policy, g.Active)
	return a.swap(ctx, &next, o)
}

// swap implements Swap. The caller must hold swapMu.
func (a *Admission) swap(ctx context.Context, g *Generation, o SwapOptions) (Report, error) {
	if g.Fingerprint != a.Generation().Fingerprint {
		o.Events = append(o.Events, a.records.policy(g))
	}
	sessions, err := a.ledger.Adopt(ctx, Adoption{Policy: g.Policy, Active: g.Active, Reset: o.Reset, Time: a.now(), Events: o.Events, Try: o.Try})
	if err == nil && !o.Try {
		a.generation.Store(g)
	}
	return Report{sessions}, err
}

// SwitchNet activates or deactivates a net in all sessions, including later ones. A deactivated net
// keeps its state and continues from there when it is activated again. If the change cannot be
// recorded, it is not made.
func (a *Admission) SwitchNet(ctx context.Context, name string, on bool, actor string) error {
	a.generation.swapMu.Lock()
	defer a.generation.swapMu.Unlock()
	g := *a.generation.Load()
	active, err := g.Policy.Switch(g.Active, name, on)
	if err != nil {
		return err
	}
	g.Active = active
	event := "deactivate"
	if on {
		event = "activate"
	}
	a.log.Warn("operator", logkind.Operator, "event", event, "net", name, "actor", actor)
	_, err = a.swap(ctx, &g, SwapOptions{Events: []audit.Event{audit.Switch{Time: a.now(), Event: event, Net: name, Actor: actor}}})
	return err
}
