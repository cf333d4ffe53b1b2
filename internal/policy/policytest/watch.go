package policytest

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
)

// newWatch returns a [watch], which counts how often the items of a policy are exercised. It leaves
// out transitions that no call can fire, and nets that are inactive at the start. The transitions
// of an allow rule are not counted separately.
func newWatch(p *Policy) (*watch, error) {
	c := &watch{rules: make(map[string]*Item), moves: make(map[firing]*Item), maps: make(map[string][]*Item)}
	var err error
	c.policy, err = p.Result.Watched(policy.Watch{
		Chosen: func(net, transition string) { c.chosen = append(c.chosen, firing{net, transition}) },
		Fired:  func(net, transition string) { c.moves[firing{net, transition}].hit() },
	})
	if err != nil {
		return nil, err
	}
	for i, n := range p.Result.Policy.Nets() {
		if p.Result.Active == nil || slices.Contains(p.Result.Active, n.Name) {
			c.net(p, n, p.Result.Nets[i].DeadTransitions)
		}
	}
	c.named("", p.Result.Policy.Maps())
	return c, nil
}

func (c *watch) named(net string, maps []gate.Map) {
	for _, m := range maps {
		item := &Item{Kind: KindMap, Net: net, Name: m.As, Rule: policy.Rule(m.Rule)}
		c.maps[m.As] = append(c.maps[m.As], item)
		c.items = append(c.items, item)
	}
}

func (c *watch) net(p *Policy, n gate.NetInfo, dead []string) {
	rule := &Item{Kind: KindRule, Net: n.Name, Rule: policy.Rule(n.Rule), passive: true}
	c.rules[n.Name] = rule
	c.items = append(c.items, rule)
	for _, t := range n.Transitions {
		rule.passive = rule.passive && (len(t.Tools) == 0 || t.Observe || n.Cause == gate.CauseAllow)
		if len(t.Tools) == 0 || n.Cause == gate.CauseAllow || slices.Contains(dead, t.Name) {
			continue
		}
		item := &Item{Kind: KindTransition, Net: n.Name, Name: t.Name, Rule: policy.Rule(place(p.Source, n, t.Name))}
		c.moves[firing{n.Name, t.Name}] = item
		if t.Spoils {
			c.spoils = append(c.spoils, spoiler{item, t.Tools})
		}
		c.items = append(c.items, item)
	}
	c.named(n.Name, n.Maps)
}

// decided increments the counts of all items that a decision exercised.
func (c *watch) decided(about *callOutcome, d gate.Decision) {
	for _, name := range about.names {
		for _, item := range c.maps[name] {
			item.hit()
		}
	}
	for _, v := range about.said {
		if rule := c.rules[v.Net]; rule != nil && rule.passive && v.Kind != gate.Abstain {
			rule.hit()
		}
	}
	switch d := d.(type) {
	case *gate.Refusal:
		c.countBlocks(d)
	case *gate.Allow:
		for _, f := range c.chosen {
			c.moves[f].hit()
		}
		for _, s := range c.spoils {
			if slices.ContainsFunc(s.tools, func(t gate.Tool) bool { return slices.Contains(about.names, t.Name) }) {
				s.item.hit()
			}
		}
		if d.Would != nil {
			c.countBlocks(d.Would)
		}
	}
	c.chosen = nil
}

// countBlocks increments the count of each rule that blocks the call.
func (c *watch) countBlocks(r *gate.Refusal) {
	for _, b := range r.Blocks {
		c.rules[b.Net].hit()
	}
}

// place returns the position of a transition or, if that is unknown, the position of its net.
func place(s policy.Source, n gate.NetInfo, transition string) gate.Position {
	for _, net := range s.Nets {
		if net.Name != n.Name || gate.Position(net.Position) != n.Rule {
			continue
		}
		for _, t := range net.Transitions {
			if t.Name == transition && t.Position.Line > 0 {
				return gate.Position(t.Position)
			}
		}
	}
	return n.Rule
}

// A callOutcome is the outcome of a call.
type callOutcome struct {
	names   []string // all names of the call, including names assigned by map statements and map entries
	said    []gate.Verdict
	verdict string        // verdict on the call, an element of verdicts
	refusal *gate.Refusal // refusal of the call or request to approve it, or nil
	would   *gate.Refusal // for an allowed call, the refusal by shadow nets, or nil
}
