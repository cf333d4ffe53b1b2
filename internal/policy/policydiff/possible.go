package policydiff

import (
	"slices"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// A possible is a call that might not exist: no arguments of it are known. Each policy is given the
// names that its maps would assign.
//
// A loose search includes such calls, and lets the clock fire in any order and as often as
// possible. So it over-approximates the policies: if it finds no difference, none exists, and a
// difference that it finds might not be real.
type possible struct {
	representative
	names   [2][]gate.Name // by policy
	effects [2]effects     // by policy
}

// on returns the call as one of the policies sees it.
func (c *possible) on(side int) gate.Call {
	call := gate.Call{Tool: c.Tool}
	if c.named != nil {
		call = *c.named
	}
	switch {
	case c.Doubtful:
		call.Also = append(slices.Clone(c.Also), c.names[side]...)
	case c.Args != "":
		call.Args = []byte(c.Args)
	}
	return call
}

const someTogether = "no arguments are known that match some of the maps together"

// doubt adds a call that might not exist. It tries the names of unshared maps both as certain and
// as uncertain.
func (d *Comparison) doubt(c representative, single []gate.Map) {
	for _, certain := range []bool{false, true} {
		p := possible{representative: c}
		p.Args = "\x00" + strconv.Itoa(len(d.maybe)) // no real call has these arguments
		marked := false
		for _, name := range c.Mapped {
			if !strings.HasPrefix(name.Text, "\x00") {
				p.names[0], p.names[1] = append(p.names[0], name), append(p.names[1], name)
				continue
			}
			marked = true
			m := single[len(name.Text)-2] // see markOf
			side := 0
			if !hasMap(d.sides[0].maps, m) {
				side = 1
			}
			p.names[side] = append(p.names[side], gate.Name{Text: m.As, Certain: name.Certain || certain, Weak: name.Weak})
		}
		switch {
		case certain && !marked:
			return
		case !d.sides[0].sees(p.on(0), p.names[0]), !d.sides[1].sees(p.on(1), p.names[1]):
			d.partly(someTogether)
			return
		}
		d.maybe = append(d.maybe, p)
	}
}

// sees reports whether the side assigns exactly these names to the call besides its own, and no net
// with maps of its own uses a name that it does not assign.
func (s *Side) sees(call gate.Call, mapped []gate.Name) bool {
	known := func(text string) bool {
		is := func(n gate.Name) bool { return n.Text == text }
		return text == call.Tool || strings.ContainsAny(text, "*?") || slices.ContainsFunc(call.Also, is)
	}
	if slices.ContainsFunc(s.whole.Names(call), func(n gate.Name) bool { return !known(n.Text) }) {
		return false
	}
	for _, n := range s.nets {
		maps := n.Maps
		if n.Labels != nil {
			maps = s.maps
		}
		gives := func(name gate.Name) bool {
			return slices.ContainsFunc(maps, func(m gate.Map) bool { return m.As == name.Text })
		}
		strange := func(name gate.Name) bool { return speaksOf(n, name.Text) && !gives(name) }
		if n.Mapper != nil || n.MatchFirst || slices.ContainsFunc(mapped, strange) {
			return false
		}
	}
	return true
}

// doubt returns why a difference found by a loose search might not be real.
func (p *product) doubt() string {
	switch {
	case len(p.ticks) > 0:
		return "calls are compared at some times, and there are others"
	case len(p.maybe) > 0:
		return someTogether
	}
	return "both policies decide by what arguments hold, and few of the values are tried"
}

// A tick is a transition that fires by the clock, identified by the calls that represent it in the
// policies; in both of them if both have the net.
type tick [2]string

// ticks returns the ticks of two policies.
func (d *Comparison) ticks(policies [2]*gate.Policy) []tick {
	var all []tick
	old, changed := tickings(policies[0]), tickings(policies[1])
	for _, t := range old {
		one := tick{t.tool, ""}
		for _, pair := range d.pairs {
			i := slices.IndexFunc(changed, func(u ticking) bool { return pair == sharedNet{t.net, u.net} && u.number == t.number })
			if i >= 0 {
				one[1] = changed[i].tool
				changed = slices.Delete(changed, i, i+1)
			}
		}
		all = append(all, one)
	}
	for _, t := range changed {
		all = append(all, tick{"", t.tool})
	}
	return all
}

// pass fires the transition where it is enabled.
func (t tick) pass(policies [2]*gate.Policy, states [2]*gate.State) {
	for i, policy := range policies {
		if t[i] == "" {
			continue
		}
		if verdict, number, _ := decide(policy, states[i], gate.Call{Tool: t[i]}); verdict != refusedCall {
			states[i].Apply(policy.Settle(states[i], number, gate.Success))
		}
	}
}

// expandLoose makes the calls that might not exist, and fires transitions by the clock.
func (p *product) expandLoose(k int) (missing []int) {
	for _, c := range p.maybe {
		if missing := p.begin(k, c); missing != nil {
			return missing
		}
	}
	for i, t := range p.ticks {
		n := p.nodes[k].clone()
		n.from, n.began, n.repeat = k, n.began+1, repeat{}
		n.by = verify.Step{Call: n.began, Wait: 1, Times: i}
		t.pass(p.policies, n.states)
		p.prune(&n)
		p.visit(n)
	}
	return nil
}
