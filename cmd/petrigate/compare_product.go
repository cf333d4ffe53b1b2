package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/verify"
)

// A product is two policies that the same calls are made under: they begin,
// and end well, badly, or nobody knows how, and others begin meanwhile.
type product struct {
	*comparison
	policies [2]*gate.Policy
	nodes    []node
	seen     map[string]bool
}

// A node is a pair of states, and how it was reached.
type node struct {
	states [2]*gate.State
	open   []flight
	began  int // calls so far
	from   int // of nodes
	by     verify.Step
}

// A flight is a call that has not ended, and that one of the states remembers.
type flight struct {
	step    verify.Step // by which it began
	numbers [2]uint64
}

// sameInFlight is how many calls that no state tells apart are in flight at once.
const sameInFlight = 2

// search visits states breadth first. missing are twins that were left out and
// are needed to tell whether a difference is one.
func (p *product) search(limit int, stop func() bool) (missing []int) {
	first := node{from: -1}
	for i, policy := range p.policies {
		first.states[i] = policy.NewState(nil)
	}
	p.visit(first)
	for k := 0; k < len(p.nodes); k++ {
		if len(p.nodes) > limit || stop() {
			p.partly("there are more states than were looked at")
			return nil
		}
		for _, c := range p.calls {
			if missing := p.begin(k, c); missing != nil {
				return missing
			}
		}
		for i := range p.nodes[k].open {
			for _, o := range []gate.Outcome{gate.Success, gate.Failure, gate.Unknown} {
				p.end(k, i, o)
			}
		}
		if p.stricter != nil && p.looser != nil {
			return nil
		}
	}
	return nil
}

// begin makes a call in both policies.
func (p *product) begin(k int, c sample) (missing []int) {
	n := p.nodes[k].clone()
	n.from, n.began = k, n.began+1
	n.by = verify.Step{Call: n.began, Tool: c.Tool, Args: c.Args, Name: c.Name}
	f := flight{step: n.by}
	var verdicts [2]permission
	for i, policy := range p.policies {
		verdicts[i], f.numbers[i], _ = decide(policy, n.states[i], c)
	}
	if found := p.direction(verdicts); found != nil && *found == nil {
		w, missing := p.confirm(p.path(k, n.by))
		if missing != nil {
			return missing
		}
		*found = w
	}
	if max(verdicts[0], verdicts[1]) == refusedCall {
		return nil
	}
	n.forget()
	if holds := n.holds(f); holds != "" {
		same := 0
		for _, other := range n.open {
			if n.holds(other) == holds {
				same++
			}
		}
		if same == sameInFlight {
			p.capped = true
			return nil
		}
		n.open = append(n.open, f)
	}
	p.visit(n)
	return nil
}

// direction is where a difference is noted; nil if there is none.
func (d *comparison) direction(verdicts [2]permission) **witness {
	switch {
	case verdicts[1] > verdicts[0]:
		return &d.stricter
	case verdicts[1] < verdicts[0]:
		return &d.looser
	}
	return nil
}

// end ends the call.
func (p *product) end(k, open int, o gate.Outcome) {
	n := p.nodes[k].clone()
	f := n.open[open]
	n.from, n.by = k, verify.Step{Call: f.step.Call, Ends: true, Outcome: o}
	for i, policy := range p.policies {
		n.states[i].Apply(policy.Settle(n.states[i], f.numbers[i], o))
	}
	n.forget()
	p.visit(n)
}

// forget drops the calls whose ends change nothing.
func (n *node) forget() {
	n.open = slices.DeleteFunc(n.open, func(f flight) bool { return n.holds(f) == "" })
}

func (p *product) visit(n node) {
	if key := n.key(); !p.seen[key] {
		p.seen[key] = true
		p.nodes = append(p.nodes, n)
	}
}

// clone is a copy whose states can be changed.
func (n node) clone() node {
	for i, s := range n.states {
		c := *s
		c.Nets, c.Calls, c.Asks = slices.Clone(s.Nets), maps.Clone(s.Calls), maps.Clone(s.Asks)
		n.states[i] = &c
	}
	n.open = slices.Clone(n.open)
	return n
}

// key is what distinguishes the states.
func (n node) key() string {
	var b strings.Builder
	for _, s := range n.states {
		for _, net := range s.Nets {
			fmt.Fprint(&b, net.Marking, net.Stuck)
		}
	}
	var flights []string
	for _, f := range n.open {
		flights = append(flights, n.holds(f))
	}
	slices.Sort(flights)
	return b.String() + strings.Join(flights, "|")
}

// holds is what the states remember of a call; empty if nothing.
func (n node) holds(f flight) string {
	var b strings.Builder
	for i, s := range n.states {
		for k, net := range s.Nets {
			for kind, flights := range [][]gate.Flight{net.Flights, net.Watches} {
				for _, one := range flights {
					if one.Call == f.numbers[i] {
						fmt.Fprintf(&b, "%d.%d.%d.%d ", i, k, kind, one.Transition)
					}
				}
			}
		}
	}
	return b.String()
}

// path is the run to a node, and a step after it.
func (p *product) path(k int, last verify.Step) verify.Trace {
	t := verify.Trace{last}
	for ; p.nodes[k].from >= 0; k = p.nodes[k].from {
		t = append(t, p.nodes[k].by)
	}
	slices.Reverse(t)
	return t
}

// confirm makes the run under the whole policies. It is no witness where nets
// that were left out, which both have, decide otherwise; missing are those.
func (p *product) confirm(t verify.Trace) (w *witness, missing []int) {
	whole := [2]*gate.Policy{p.old.whole, p.new.whole}
	states := [2]*gate.State{whole[0].NewState(nil), whole[1].NewState(nil)}
	numbers := make(map[int][2]uint64)
	var verdicts [2]permission
	for _, step := range t {
		if step.Ends {
			for i, policy := range whole {
				states[i].Apply(policy.Settle(states[i], numbers[step.Call][i], step.Outcome))
			}
			continue
		}
		var by [2][]string
		var given [2]uint64
		for i, policy := range whole {
			verdicts[i], given[i], by[i] = decide(policy, states[i], p.sampleOf(step))
		}
		numbers[step.Call] = given
		if missing := p.needed(by[0], by[1]); missing != nil {
			return nil, missing
		}
	}
	return &witness{t, verdicts[0], verdicts[1]}, nil
}

func (d *comparison) sampleOf(step verify.Step) sample {
	i := slices.IndexFunc(d.calls, func(c sample) bool { return c.Tool == step.Tool && c.Args == step.Args })
	return d.calls[i]
}

// decide makes a call in a state, with the consent of whoever is asked. by are
// the nets that refuse or ask.
func decide(p *gate.Policy, s *gate.State, c sample) (verdict permission, number uint64, by []string) {
	call := gate.Call{Tool: c.Tool, Also: c.Also}
	if c.Args != "" {
		call.Args = []byte(c.Args)
	}
	decision, delta := p.Decide(s, call, nil)
	s.Apply(delta)
	if ask, ok := decision.(*gate.Ask); ok {
		verdict = asked
		for _, step := range ask.Steps {
			by = append(by, step.Net)
		}
		decision, delta = p.Decide(s, call, ask.Grant())
		s.Apply(delta)
	}
	switch d := decision.(type) {
	case *gate.Allow:
		return verdict, d.Ticket.Number, by
	case *gate.Refusal:
		for _, b := range d.Blocks {
			by = append(by, b.Net)
		}
	}
	return refusedCall, 0, by
}
