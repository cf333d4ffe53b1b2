package admission

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/reading"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// Generation is the policy in force and everything derived from it. It is immutable and always
// replaced as a whole.
type Generation struct {
	Policy      *gate.Policy
	Active      []string // nets that take part in decisions; nil: all
	Given       []string // value of Active before operators switched any nets
	Advertise   string   // which tools clients see: all, possible or enabled
	Fingerprint string   // identifies the policy

	Enforces      bool // at least one net is not in shadow mode
	PromptsByList bool // a net names a prompt, so unlisted prompts do not exist
	Shared        bool // a call in one session can change the markings seen by other sessions
	Timed         bool // a net's marking changes with time
	Pipefail      bool // add `set -o pipefail` to agents' scripts that would then count as evidence

	Files  []audit.File    // source files of the policy
	Reads  *reading.Reader // selects the parts of arguments and results that are recorded
	opaque map[string]bool // names of nets that read more of a call than Reads selects

	// The following fields are computed in advance because every call needs them.
	identity      string // see setActive
	shadow        bool   // the whole policy is in shadow mode
	readsValues   bool   // Reads selects any values
	countsRows    bool   // a net counts equal calls in a row
	readsResults  bool   // the policy reads the JSON values of results
	judgesResults bool   // the policy has conditions on results

	Remedy     RemedyFunc     // computes remedies; if nil, refusals have none
	Impossible ImpossibleFunc // finds tools that can never be called; nil: none are known
}

// RemedyFunc returns the calls that would make c admissible after the refusal r in state s. It may
// modify s. It must not block and must be safe for concurrent use.
type RemedyFunc func(s *gate.State, c gate.Call, r *gate.Refusal) Remedy

// ImpossibleFunc returns those of the given tools that can never be called while the given nets are
// active. A nil active means all nets.
type ImpossibleFunc func(tools []gate.Call, active []string) []string

// NewGeneration returns a generation with the fields that follow from the policy and the active
// nets. The caller must set the others before using it.
func NewGeneration(p *gate.Policy, active []string) *Generation {
	g := &Generation{
		Policy: p, Given: active, Fingerprint: p.Fingerprint(), opaque: map[string]bool{},
		shadow: p.Shadow(), readsResults: p.ReadsResults(), judgesResults: p.JudgesResults(),
	}
	g.setActive(active)
	var nets []gate.Net
	for _, n := range p.Nets() {
		nets = append(nets, n.Net)
		g.opaque[n.Name] = Opaque(&n.Net)
		g.Enforces = g.Enforces || !n.Shadow
		g.Shared = g.Shared || n.Scope != gate.ScopeSession
		g.Timed = g.Timed || slices.ContainsFunc(n.Transitions, func(t gate.Transition) bool { return t.Every > 0 })
	}
	g.Reads = reading.New(nets)
	arguments, results := g.Reads.Fields()
	g.readsValues, g.countsRows = len(arguments)+len(results) > 0, g.Reads.Rows()
	return g
}

// setActive sets the nets that take part in decisions, and the identity, which distinguishes
// generations with different nets or active nets, because they can make different decisions.
func (g *Generation) setActive(active []string) {
	g.Active, g.identity = active, g.Fingerprint
	if active != nil && len(active) != len(g.Policy.Nets()) {
		g.identity += " " + strings.Join(slices.Sorted(slices.Values(active)), " ")
	}
}

// Opaque reports whether the net reads parts of a call that are neither selected by
// [reading.Reader] nor covered by the policy's names.
func Opaque(n *gate.Net) bool {
	return n.Validate != nil || n.OnSuccess != nil || n.Labels == nil && (n.Mapper != nil || len(n.Maps) > 0)
}

// wantsRemedy reports whether to compute a remedy for the refusal. No remedy is needed if waiting
// is enough, because the text of the refusal says so already.
func (g *Generation) wantsRemedy(r *gate.Refusal) bool { return g.Remedy != nil && r.Retry == 0 }

// IsActive reports whether the net takes part in decisions.
func (g *Generation) IsActive(net string) bool {
	return g.Active == nil || slices.Contains(g.Active, net)
}

// keepSwitches returns the nets of the policy next that are active after a swap: those in active
// (all, if active is nil), except that a net switched by an operator under g keeps its current
// setting.
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
