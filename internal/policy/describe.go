package policy

import (
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/rules"
)

// A Net describes a policy's net in the form that "check --json" prints.
type Net struct {
	Name            string   `json:"name"`
	Rule            Rule     `json:"rule"`
	States          *int     `json:"states"`    // nil: there are infinitely many states, or more than were counted
	Bounded         *bool    `json:"bounded"`   // nil: unknown
	Deadlocks       *int     `json:"deadlocks"` // number of deadlocked states; nil: unknown
	DeadTransitions []string `json:"deadTransitions"`
	Invariants      []string `json:"invariants"` // the net's place invariants, set by package check
}

// A Rule is the position of a net in the user's files.
type Rule struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// describe returns the state counts of each net. For nets generated from rules, they are known in
// advance; other nets are explored.
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
			nets[i].DeadTransitions = []string{} // the list must not be null in JSON
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
