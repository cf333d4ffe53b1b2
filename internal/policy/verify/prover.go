package verify

import (
	"cmp"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// A prover answers the questions about one policy.
type prover struct {
	*explore.Model
	deny       bool
	small      int // maximum number of states of a group that is explored whole
	policy     *gate.Policy
	also       map[string][]gate.Name // further names of known tools
	conditions []string               // conditions that nets judge arguments by
	each       *ForEach               // restricts questions to one value of its key; nil: all calls
	options    *Options

	judging bool // some net judges arguments
	rows    bool // some net counts equal calls in a row
}

func newProver(p *gate.Policy, o *Options) *prover {
	c := callclass.Options{Tools: o.Tools, Known: o.Known, Passes: o.passes, Syntheses: o.inventions, Lacks: o.Lacks}
	o.Prove = slices.Clone(o.Prove)
	c.Compared = compared(p, o.Prove)
	for _, a := range o.Prove {
		c.Names = append(c.Names, a.tools()...)
	}
	m := &prover{
		Model: explore.New(p, c, explore.Options{States: o.States, Stop: o.Stop}),
		deny:  p.Options().Deny && !o.passes, small: cmp.Or(o.groups, explore.GroupLimit),
		policy: p, also: callclass.Also(o.Tools), conditions: o.Conditions, options: o,
	}
	m.judging, m.rows = judging(m.Nets), inARow(m.Nets)
	return m
}

// listed returns the names that the nets list, in order.
func listed(p *gate.Policy) []gate.Tool {
	var out []gate.Tool
	seen := make(map[string]bool)
	for _, n := range p.Nets() {
		if n.Shadow {
			continue
		}
		for _, t := range n.Transitions {
			for _, tool := range t.Tools {
				name := tool.Name
				if tool.Kind == gate.Literal && strings.Contains(name, ".") {
					name = "\"" + name // distinct from the action of that name
				}
				if !seen[name] {
					seen[name] = true
					out = append(out, gate.Tool{Name: tool.Name, Kind: tool.Kind})
				}
			}
		}
	}
	return out
}

// groups partitions the enforced nets: nets that share calls are in one group.
func (m *prover) groups() [][]int {
	group := make([]int, len(m.Nets)) // the first net of each net's group
	for i := range group {
		group[i] = i
	}
	sets := m.Calls.Together()
	for _, s := range m.Classes {
		sets = append(sets, s.Nets())
	}
	for _, set := range sets {
		for _, n := range set {
			a, b := group[set[0]], group[n]
			for i := 0; a != b && i < len(group); i++ {
				if group[i] == max(a, b) {
					group[i] = min(a, b)
				}
			}
		}
	}
	var groups [][]int
	at := make(map[int]int)
	for i, n := range m.Nets {
		if n.Info.Shadow {
			continue
		}
		if _, ok := at[group[i]]; !ok {
			at[group[i]] = len(groups)
			groups = append(groups, nil)
		}
		groups[at[group[i]]] = append(groups[at[group[i]]], i)
	}
	return groups
}
