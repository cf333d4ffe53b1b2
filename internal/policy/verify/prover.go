package verify

import (
	"cmp"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// A prover answers the questions about one policy.
type prover struct {
	*explore.Model
	deny       bool
	small      int // states of a group that is looked at whole
	policy     *gate.Policy
	also       map[string][]gate.Name // of tools that are known: their further names
	conditions []string               // by which nets judge arguments
}

func newProver(p *gate.Policy, o *Options) *prover {
	c := callclass.Options{Tools: o.Tools, Known: o.Known, Passes: o.passes, Syntheses: o.inventions}
	for _, a := range o.Prove {
		c.Names = append(c.Names, a.tools()...)
	}
	m := &prover{
		Model: explore.New(p, c, explore.Options{States: o.States, Stop: o.Stop}),
		deny:  p.Options().Deny && !o.passes, small: cmp.Or(o.groups, explore.GroupLimit),
		policy: p, also: callclass.Also(o.Tools), conditions: o.Conditions,
	}
	return m
}

// listed are the names that the nets list, in order.
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
					name = "\"" + name // another thing than the action
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

// groups are the nets that share calls, with all that can be called in them.
func (m *prover) groups() [][]int {
	parent := make([]int, len(m.Nets))
	for i := range parent {
		parent[i] = i
	}
	var root func(int) int
	root = func(i int) int {
		if parent[i] != i {
			parent[i] = root(parent[i])
		}
		return parent[i]
	}
	for _, s := range m.Classes {
		for _, t := range s.Effects[min(1, len(s.Effects)):] {
			a, b := root(s.Effects[0].Net), root(t.Net)
			parent[max(a, b)] = min(a, b)
		}
	}
	for _, set := range m.Calls.Together() {
		for _, n := range set[min(1, len(set)):] {
			a, b := root(set[0]), root(n)
			parent[max(a, b)] = min(a, b)
		}
	}
	var groups [][]int
	at := make(map[int]int)
	for i := range m.Nets {
		if m.Nets[i].Info.Shadow {
			continue
		}
		r := root(i)
		if _, ok := at[r]; !ok {
			at[r] = len(groups)
			groups = append(groups, nil)
		}
		groups[at[r]] = append(groups[at[r]], i)
	}
	return groups
}
