package admission

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/reading"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// Generation is a policy in force and everything derived from it. It is immutable and replaced as a
// whole.
type Generation struct {
	Policy      *gate.Policy
	Active      []string // nets that take part in decisions; nil: all
	Given       []string // Active before operators switched any nets
	Advertise   string   // which tools clients are shown: all, possible or enabled
	Fingerprint string   // the policy's fingerprint

	Enforces      bool // some net is not in shadow mode
	PromptsByList bool // some net names a prompt, so only listed prompts exist
	Shared        bool // a call in one session can change the markings of other sessions' nets
	Timed         bool // some net's marking changes with time
	Pipefail      bool // add `set -o pipefail` to agents' scripts if only that is missing for a script to count as evidence

	Files  []audit.File    // the policy's files
	Reads  *reading.Reader // selects the parts of arguments and results that are recorded
	opaque map[string]bool // nets that read more of a call than Reads selects, by name

	Remedy     RemedyFunc     // computes remedies; nil: refusals contain no remedy
	Impossible ImpossibleFunc // finds impossible tools; nil: no tool is known to be impossible
}

// RemedyFunc returns the calls that would make c admissible in the state s, after the refusal r. It
// must not block and must be safe for concurrent use. The function owns s.
type RemedyFunc func(s *gate.State, c gate.Call, r *gate.Refusal) Remedy

// ImpossibleFunc returns the given tools that can never be called while the given nets are active.
// If active is nil, all nets are active.
type ImpossibleFunc func(tools []gate.Call, active []string) []string

// NewGeneration returns a generation with the fields that follow from the policy alone. The caller
// must set the other fields before the first use.
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

// Opaque reports whether the net reads parts of a call's arguments or result that [reading.Reader]
// does not select and that the policy's names do not contain.
func Opaque(n *gate.Net) bool {
	return n.Validate != nil || n.OnSuccess != nil || n.Labels == nil && (n.Mapper != nil || len(n.Maps) > 0)
}

// wantsRemedy reports whether a remedy should be computed for the refusal. A refusal that ends by
// itself after some time needs no remedy, because its text already says so.
func (g *Generation) wantsRemedy(r *gate.Refusal) bool { return g.Remedy != nil && r.Retry == 0 }

// IsActive reports whether the net takes part in decisions.
func (g *Generation) IsActive(net string) bool {
	return g.Active == nil || slices.Contains(g.Active, net)
}

// keepSwitches returns the nets of the policy next that will be active. A net is active if active
// is nil or contains it. But a net that operators have switched under g keeps its present setting.
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

// identity distinguishes generations whose nets or active nets differ, so that they may decide
// differently.
func (g *Generation) identity() string {
	if g.Active == nil || len(g.Active) == len(g.Policy.Nets()) {
		return g.Fingerprint
	}
	return g.Fingerprint + " " + strings.Join(slices.Sorted(slices.Values(g.Active)), " ")
}
