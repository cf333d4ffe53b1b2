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
	Active      []string // nets that take part in decisions; nil means all
	Given       []string // the configured value of Active, before operators switched any nets
	Advertise   string   // tools shown to clients: "all", "possible" or "enabled"
	Fingerprint string   // fingerprint of the policy

	Enforces      bool // whether at least one net is not in shadow mode
	PromptsByList bool // whether a net that is not in shadow mode refers to a prompt by name; if so, clients can get only prompts that a server lists
	Shared        bool // whether a call in one session can change the markings seen by other sessions
	Timed         bool // whether the marking of any net changes with time
	Pipefail      bool // whether to add `set -o pipefail` to an agent's script if the script's success would otherwise not count toward a requirement

	Files  []audit.File    // source files of the policy
	Reads  *reading.Reader // selects the parts of arguments and results to record
	opaque map[string]bool // for each net, whether it depends on data that is not recorded with the call; see [Opaque]

	// The following fields are computed in advance because every call needs them.
	identity      string // distinguishes generations whose decisions can differ; see setActive
	shadow        bool   // whether the whole policy is in shadow mode
	readsValues   bool   // whether any net reads a field of arguments or results; if so, the values of these fields are recorded
	countsRows    bool   // whether any net counts consecutive identical calls
	readsResults  bool   // whether the policy reads the JSON values of results
	judgesResults bool   // whether the policy has conditions on results

	Remedy     RemedyFunc     // computes remedies; nil means that refusals have no remedies
	Impossible ImpossibleFunc // finds tools that can never be called; nil means that no such tools are known
}

// RemedyFunc returns calls that would make the refused call c admissible. The session is in state
// s, and r is the refusal. The function may modify s. It must not block and must be safe for
// concurrent use.
type RemedyFunc func(s *gate.State, c gate.Call, r *gate.Refusal) Remedy

// ImpossibleFunc returns the tools that can never be called while the given nets are active. It
// considers only the given tools. If active is nil, all nets are active.
type ImpossibleFunc func(tools []gate.Call, active []string) []string

// NewGeneration returns a generation and sets the fields that can be derived from the policy and
// the active nets. The caller must set the other fields before using the generation.
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

// setActive sets g.Active (the nets that take part in decisions) and g.identity. The identity
// distinguishes generations with different policies or active nets, because such generations can
// decide differently.
func (g *Generation) setActive(active []string) {
	g.Active, g.identity = active, g.Fingerprint
	if active != nil && len(active) != len(g.Policy.Nets()) {
		g.identity += " " + strings.Join(slices.Sorted(slices.Values(active)), " ")
	}
}

// Opaque reports whether the net depends on data that is not recorded with a call. One example is a
// net with a Validate function, which can use any argument.
func Opaque(n *gate.Net) bool {
	return n.Validate != nil || n.OnSuccess != nil || n.Labels == nil && (n.Mapper != nil || len(n.Maps) > 0)
}

// wantsRemedy reports whether to compute a remedy for the refusal. If waiting is enough, the text
// of the refusal already says so and no remedy is needed.
func (g *Generation) wantsRemedy(r *gate.Refusal) bool { return g.Remedy != nil && r.Retry == 0 }

// IsActive reports whether the net takes part in decisions.
func (g *Generation) IsActive(net string) bool {
	return g.Active == nil || slices.Contains(g.Active, net)
}

// keepSwitches returns the nets to activate when p replaces the policy of g. A net that an operator
// has switched on or off stays on or off. The other nets are activated if they are in the given
// list. In both the argument and the result, nil means all nets.
func (g *Generation) keepSwitches(p *gate.Policy, active []string) []string {
	on := func(list []string, net string) bool { return list == nil || slices.Contains(list, net) }
	names, all := []string{}, active == nil
	for _, n := range p.Nets() {
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
