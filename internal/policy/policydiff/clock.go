package policydiff

import (
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// tickOf is the prefix of the names of the calls that represent ticks of the clock. No tool has
// such a name.
const tickOf = "\x00tick "

// clockless replaces the ticks of a net by calls that no pattern matches, neither of this net nor
// of others. A net with a key keeps its clock, because a single call cannot tick for all values.
func clockless(n gate.Net) gate.Net {
	none := gate.Tool{Name: tickOf + "*", Kind: gate.Glob}
	keyed := hasKey(n)
	n.Transitions = slices.Clone(n.Transitions)
	for i := range n.Transitions {
		switch t := &n.Transitions[i]; {
		case t.Every > 0 && !keyed:
			t.Tools = []gate.Tool{{Name: tickOf + t.Every.String() + " " + n.Name + " " + t.Name, Kind: gate.Literal}}
			t.Every = 0
		case slices.ContainsFunc(t.Tools, func(tool gate.Tool) bool { return tool.Kind == gate.Glob }):
			t.Unless = append(slices.Clone(t.Unless), none)
		}
	}
	n.Phases = slices.Clone(n.Phases)
	for i := range n.Phases {
		n.Phases[i].Tools = append(slices.Clone(n.Phases[i].Tools), none)
	}
	return n
}

// A ticking is a transition that fires by the clock, with the call that represents its tick.
type ticking struct {
	net    string
	number int // index among the net's transitions
	tool   string
	every  time.Duration
}

func tickings(p *gate.Policy) []ticking {
	var out []ticking
	for _, n := range p.Nets() {
		for i, t := range n.Transitions {
			for _, tool := range t.Tools {
				if rest, ok := strings.CutPrefix(tool.Name, tickOf); ok {
					text, _, _ := strings.Cut(rest, " ")
					every, _ := time.ParseDuration(text) // written by Duration.String
					out = append(out, ticking{n.Name, i, tool.Name, every})
				}
			}
		}
	}
	return out
}

// waits returns the durations of a step in time: the intervals of the ticking transitions.
func waits(policies [2]*gate.Policy) []time.Duration {
	var out []time.Duration
	for _, p := range policies {
		for _, t := range tickings(p) {
			out = append(out, t.every)
		}
		for _, n := range p.Nets() { // nets that keep their clock
			if n.Sum != nil && n.Sum.Every > 0 {
				out = append(out, n.Sum.Every)
			}
			for _, t := range n.Transitions {
				if t.Every > 0 {
					out = append(out, t.Every)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// wait lets time pass in both policies: each transition ticks as often as its interval fits into d.
// The remainder is dropped; confirm checks a difference with the clock of the gate.
func (p *product) wait(k int, d time.Duration) {
	n := p.nodes[k].clone()
	n.from, n.began, n.repeat = k, n.began+1, repeat{}
	n.by = verify.Step{Call: n.began, Wait: d}
	n.now = n.now.Add(d)
	for i, policy := range p.policies {
		n.states[i].Apply(policy.Tick(n.states[i], n.now))
		for _, t := range tickings(policy) {
			for range d / t.every {
				verdict, number, _ := decide(policy, n.states[i], gate.Call{Tool: t.tool})
				if verdict == refusedCall {
					break // the transition is not enabled
				}
				n.states[i].Apply(policy.Settle(n.states[i], number, gate.Success))
			}
		}
	}
	p.prune(&n)
	p.visit(n)
}
