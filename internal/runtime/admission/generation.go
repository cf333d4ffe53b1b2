package admission

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/reading"
	"github.com/petrigate/petrigate/internal/logkind"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// Generation is a policy in force with everything derived from it. It is immutable and replaced as
// a whole.
type Generation struct {
	Policy      *gate.Policy
	Active      []string // nets that take part in decisions; nil: all
	Given       []string // Active before operators switched nets
	Advertise   string   // tools that clients are shown: all, possible or enabled
	Fingerprint string   // fingerprint of the policy

	Enforces      bool // some net is not in shadow
	PromptsByList bool // some net names a prompt, so only listed prompts exist
	Shared        bool // a session can move nets of other sessions
	Timed         bool // some net moves by time
	Pipefail      bool // add `set -o pipefail` to scripts of agents if only that is missing for evidence

	Files  []audit.File    // files of the policy
	Reads  *reading.Reader // selects the arguments and results for records
	opaque map[string]bool // nets that read more of a call than Reads selects

	Remedy     RemedyFunc     // nil: refusals contain no remedy
	Impossible ImpossibleFunc // nil: no tool is known to be impossible
}

// RemedyFunc returns the calls that would make c admissible in the state s, after the refusal r. It
// must not block, and must be safe for concurrent use. The function owns s.
type RemedyFunc func(s *gate.State, c gate.Call, r *gate.Refusal) Remedy

// ImpossibleFunc returns those of the tools that can never be called while the given nets are
// active; nil: all nets are active.
type ImpossibleFunc func(tools []gate.Call, active []string) []string

// NewGeneration returns a generation with the fields that follow from the policy alone. The caller
// sets the other fields before the first use.
func NewGeneration(p *gate.Policy, active []string) *Generation {
	g := &Generation{Policy: p, Active: active, Given: active, Fingerprint: p.Fingerprint(), opaque: map[string]bool{}}
	var nets []gate.Net
	for _, n := range p.Nets() {
		nets = append(nets, n.Net)
		g.opaque[n.Name] = Opaque(&n.Net)
		g.Enforces = g.Enforces || !n.Shadow
		g.Shared = g.Shared || n.Scope != gate.ScopeSession
		g.Timed = g.Timed || slices.ContainsFunc(n.Transitions, func(t gate.Transition) bool { return t.Every > 0 })
	}
	g.Reads = reading.New(nets)
	return g
}

// Opaque reports whether the net reads more of the arguments or results of calls than
// [reading.Reader] and the names of the policy contain.
func Opaque(n *gate.Net) bool {
	return n.Validate != nil || n.OnSuccess != nil || n.Labels == nil && (n.Mapper != nil || len(n.Maps) > 0)
}

// wantsRemedy reports whether a remedy should be computed for the refusal. A refusal that ends with
// time already says so.
func (g *Generation) wantsRemedy(r *gate.Refusal) bool { return g.Remedy != nil && r.Retry == 0 }

// IsActive reports whether the net takes part in decisions.
func (g *Generation) IsActive(net string) bool {
	return g.Active == nil || slices.Contains(g.Active, net)
}

// keepSwitches returns the active nets for the policy next. A net is active if active is nil or
// contains it, unless operators have switched the net under g: then it keeps its present setting.
func (g *Generation) keepSwitches(next *gate.Policy, active []string) []string {
	on := func(list []string, net string) bool { return list == nil || slices.Contains(list, net) }
	names, all := []string{}, active == nil
	for _, n := range next.Nets() {
		is := on(active, n.Name)
		if now := g.IsActive(n.Name); g.has(n.Name) && now != on(g.Given, n.Name) {
			is, all = now, all && now
		}
		if is {
			names = append(names, n.Name)
		}
	}
	if all {
		return nil
	}
	return names
}

func (g *Generation) has(net string) bool {
	return slices.ContainsFunc(g.Policy.Nets(), func(n gate.NetInfo) bool { return n.Name == net })
}

// inForce holds the Generation in force.
type inForce struct {
	atomic.Pointer[Generation]
	swapMu sync.Mutex // held while the generation is replaced
}

// awaitSwap waits for a running swap.
func (f *inForce) awaitSwap() {
	f.swapMu.Lock()   // until the new generation is in force
	f.swapMu.Unlock() //nolint:staticcheck,gocritic // nothing is done meanwhile
}

// Generation returns the generation in force. Load it once for each request.
func (a *Admission) Generation() *Generation { return a.generation.Load() }

// Report is the effect of [Admission.Swap] on sessions and shared nets.
type Report struct{ Sessions []Adopted }

// SwapOptions configures [Admission.Swap]. The zero value is ready to use.
type SwapOptions struct {
	Reset  []string      // nets to reset to their initial states, even if they would be held
	Try    bool          // change nothing; the report contains the effect of a real swap
	Events []audit.Event // recorded with the swap
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

// swap is Swap for a caller that holds swapMu.
func (a *Admission) swap(ctx context.Context, g *Generation, o SwapOptions) (Report, error) {
	if g.Fingerprint != a.Generation().Fingerprint {
		o.Events = append(o.Events, a.policyEvent(g))
	}
	sessions, err := a.ledger.Adopt(ctx, Adoption{Policy: g.Policy, Active: g.Active, Reset: o.Reset, Time: a.now(), Events: o.Events, Try: o.Try})
	if err == nil && !o.Try {
		a.generation.Store(g)
	}
	return Report{sessions}, err
}

// SwitchNet activates or deactivates a net in all sessions, including later ones. A deactivated net
// keeps its state and continues from there when it is activated again. If the change cannot be put
// on record, it is not made.
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
