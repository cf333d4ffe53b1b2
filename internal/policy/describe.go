package policy

import (
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/rules"
)

// A Net describes a net of the policy as printed by "check --json".
type Net struct {
	Name            string   `json:"name"`
	Rule            Rule     `json:"rule"`
	States          *int     `json:"states"`    // number of states; nil if infinite or not fully counted
	Bounded         *bool    `json:"bounded"`   // whether the net is bounded; nil if unknown
	Deadlocks       *int     `json:"deadlocks"` // number of deadlocked states; nil if unknown
	DeadTransitions []string `json:"deadTransitions"`
	Invariants      []string `json:"invariants"` // place invariants, set by package check
}

// A Rule is the position of a rule or hand-written net in the user's files.
type Rule struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// describe returns descriptions of the nets. It explores each hand-written net. For nets generated
// from rules, the results are known in advance.
func describe(p *gate.Policy, known []rules.Verification) []Net {
	infos := p.Nets()
	nets := make([]Net, len(infos))
	for i, info := range infos {
		if i < len(known) {
			v := known[i]
			nets[i] = Net{States: &v.States, Bounded: new(true), Deadlocks: &v.Deadlocks, DeadTransitions: v.Dead}
		} else {
			nets[i] = explored(&info.Net)
		}
		nets[i].Name, nets[i].Rule, nets[i].Invariants = info.Name, Rule(info.Rule), []string{}
		if nets[i].DeadTransitions == nil {
			nets[i].DeadTransitions = []string{} // encoded as [] instead of null
		}
	}
	return nets
}

func explored(n *toolnet.Net) (net Net) {
	e := n.Explore(0)
	if e.Bounded != toolnet.Unsure {
		net.Bounded = new(e.Bounded == toolnet.Yes)
	}
	if e.Complete {
		net.States, net.Deadlocks, net.DeadTransitions = &e.States, &e.Deadlocks, e.DeadTransitions
	}
	return net
}
