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

// A Generation is a policy in force with all that follows from it. It never
// changes: another one takes its place.
type Generation struct {
	Policy      *gate.Policy
	Active      []string // the nets that take part in decisions; nil: all
	Given       []string // Active as it was at first, before operators switched nets
	Advertise   string   // which tools clients are shown: all, possible or enabled
	Fingerprint string   // of the policy

	Enforces      bool // some net decides: one that is not in shadow
	PromptsByList bool // prompts are those that are listed, since some net names one
	Shared        bool // what one session does can move nets of another
	Timed         bool // time moves nets
	Pipefail      bool // scripts of agents get `set -o pipefail` where only that is missing for evidence

	Files  []audit.File    // that the policy was read from
	Reads  *reading.Reader // what records have of the arguments and results of calls
	opaque map[string]bool // the nets that read more of them

	Remedy     RemedyFunc     // nil: refusals name no way out
	Impossible ImpossibleFunc // nil: no tool is known to be impossible
}

// A RemedyFunc finds the way from a state, in which c was refused with r, to an
// admission of c. It must not block and must be safe for concurrent use. The state
// is its own.
type RemedyFunc func(s *gate.State, c gate.Call, r *gate.Refusal) Remedy

// An ImpossibleFunc names those of the tools that can never be called while these
// nets are active, all if active is nil.
type ImpossibleFunc func(tools []gate.Call, active []string) []string

// NewGeneration returns the generation of a policy with what follows from the
// policy alone. The caller sets the other fields before it is used.
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

// Opaque reports whether the net reads more of the arguments or results of calls than what
// [reading.Reader] and the names of the policy have.
func Opaque(n *gate.Net) bool {
	return n.Validate != nil || n.OnSuccess != nil || n.Labels == nil && (n.Mapper != nil || len(n.Maps) > 0)
}

// remedies reports whether a remedy is to be found for the refusal. That time
// helps, it says already.
func (g *Generation) remedies(r *gate.Refusal) bool { return g.Remedy != nil && r.Retry == 0 }

// IsActive reports whether the net takes part in decisions.
func (g *Generation) IsActive(net string) bool {
	return g.Active == nil || slices.Contains(g.Active, net)
}

// switched returns which nets of next, which are active if active is nil or has them, are
// active where operators have switched nets of g.
func (g *Generation) switched(next *gate.Policy, active []string) []string {
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

// inForce points to the Generation in force.
type inForce struct {
	atomic.Pointer[Generation]
	swapping sync.Mutex // held while another generation is put in force
}

// awaitSwap returns when no swap is under way.
func (f *inForce) awaitSwap() {
	f.swapping.Lock()   // until the new one is in force
	f.swapping.Unlock() //nolint:staticcheck,gocritic // nothing is done meanwhile
}

// Generation is the one in force. Load it once for each question.
func (a *Admission) Generation() *Generation { return a.generation.Load() }

// Report says what a [Admission.Swap] did to the sessions, and to what they share.
type Report struct{ Sessions []Adopted }

// SwapOptions say how another generation is put in force. The zero value is ready to use.
type SwapOptions struct {
	Reset  []string      // nets that begin at their start, also where they would be held
	Try    bool          // change nothing: the report says what would become of the nets
	Events []audit.Event // that go on record with it
}

// Swap puts g in force, see [gate.Policy.Adopt] for what becomes of the states. Calls in
// flight and calls that wait for a person keep their numbers; a consent to a question of
// another policy admits nothing. What operators have switched on or off stays so. After an error the old generation is in force; with
// [ErrHeld] the report says which nets are held.
func (a *Admission) Swap(ctx context.Context, g *Generation, o SwapOptions) (Report, error) {
	a.generation.swapping.Lock()
	defer a.generation.swapping.Unlock()
	next := *g
	next.Active = a.generation.Load().switched(g.Policy, g.Active)
	return a.swap(ctx, &next, o)
}

// swap requires that the caller holds the lock of the generation in force.
func (a *Admission) swap(ctx context.Context, g *Generation, o SwapOptions) (Report, error) {
	if g.Fingerprint != a.Generation().Fingerprint {
		o.Events = append(o.Events, a.policy(g))
	}
	sessions, err := a.ledger.Adopt(ctx, Adoption{Policy: g.Policy, Active: g.Active, Reset: o.Reset, Time: a.now(), Events: o.Events, Try: o.Try})
	if err == nil && !o.Try {
		a.generation.Store(g)
	}
	return Report{sessions}, err
}

// SwitchNet activates or deactivates a net in all sessions, those that begin
// later too. The state of a net that is off is kept: switched on again, it goes
// on from where it was. What cannot be put on record is not done.
func (a *Admission) SwitchNet(ctx context.Context, name string, on bool, actor string) error {
	a.generation.swapping.Lock()
	defer a.generation.swapping.Unlock()
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
