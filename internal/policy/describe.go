package policy

import (
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/rules"
)

// A Net describes a net of a policy, in the form that "check --json" prints.
type Net struct {
	Name            string   `json:"name"`
	Rule            Rule     `json:"rule"`
	States          *int     `json:"states"`    // nil: more than were counted, or without end
	Bounded         *bool    `json:"bounded"`   // nil: not known
	Deadlocks       *int     `json:"deadlocks"` // nil: not known
	DeadTransitions []string `json:"deadTransitions"`
	Invariants      []string `json:"invariants"` // for who describes the nets to fill in
}

// A Rule is where the user wrote a net.
type Rule struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// describe says of each net what its states are: known for rules, explored for
// the others.
func describe(p *gate.Policy, known []rules.Verification) []Net {
	infos := p.Nets()
	nets := make([]Net, len(infos))
	for i, info := range infos {
		if i < len(known) {
			nets[i] = verified(known[i])
		} else {
			nets[i] = explored(p, info.Name)
		}
		nets[i].Name, nets[i].Rule = info.Name, Rule(info.Rule)
		nets[i].Invariants = []string{}
	}
	return nets
}

func verified(v rules.Verification) Net {
	bounded := true
	return Net{States: &v.States, Bounded: &bounded, Deadlocks: &v.Deadlocks, DeadTransitions: list(v.Dead)}
}

func explored(p *gate.Policy, name string) Net {
	e, _ := p.Explore(name, 0)
	net := Net{DeadTransitions: []string{}}
	if e.Bounded != gate.Unsure {
		bounded := e.Bounded == gate.Yes
		net.Bounded = &bounded
	}
	if e.Complete {
		net.States, net.Deadlocks, net.DeadTransitions = &e.States, &e.Deadlocks, list(e.DeadTransitions)
	}
	return net
}

// list is s, and never null in JSON.
func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
