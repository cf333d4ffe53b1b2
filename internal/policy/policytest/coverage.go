package policytest

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
)

// Coverage is what tests have exercised of policies.
type Coverage struct {
	Items []*Item

	watched *gate.Policy     // reports what fires
	chosen  []firing         // for the call that is being decided
	rules   map[string]*Item // by net
	moves   map[firing]*Item
	maps    map[string][]*Item // by the name that they give
	passive map[string]bool    // nets that hold no call back
}

// An Item is a rule, a map or a transition.
type Item struct {
	Kind Kind
	Net  string // also of a transition
	Name string // of a transition, or that a map gives
	Rule gate.Position
	Hits int
}

// Kind says what has to happen to an [Item].
type Kind string

const (
	KindRule       Kind = "rule"       // it refuses a call or has a person asked; or lets one pass, where it can do no else
	KindTransition Kind = "transition" // it fires
	KindMap        Kind = "map"        // a call gets its name
)

type firing struct{ net, transition string }

// Done counts the items that were exercised.
func (c *Coverage) Done() int {
	n := 0
	for _, i := range c.Items {
		if i.Hits > 0 {
			n++
		}
	}
	return n
}

// Percent is the share that was exercised, rounded down.
func (c *Coverage) Percent() int {
	if len(c.Items) == 0 {
		return 100
	}
	return c.Done() * 100 / len(c.Items)
}

// newCoverage lists what there is to exercise in a policy. Transitions without
// tools move by themselves, and those that can never fire need no test.
func newCoverage(p *Policy) (*Coverage, error) {
	c := &Coverage{
		rules: make(map[string]*Item), moves: make(map[firing]*Item), maps: make(map[string][]*Item), passive: make(map[string]bool),
	}
	var err error
	c.watched, err = p.Result.Watched(policy.Watch{
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

func (c *Coverage) named(net string, maps []gate.Map) {
	for _, m := range maps {
		item := &Item{Kind: KindMap, Net: net, Name: m.As, Rule: m.Rule}
		c.maps[m.As] = append(c.maps[m.As], item)
		c.Items = append(c.Items, item)
	}
}

func (c *Coverage) net(p *Policy, n gate.NetInfo, dead []string) {
	item := &Item{Kind: KindRule, Net: n.Name, Rule: n.Rule}
	c.rules[n.Name] = item
	c.Items = append(c.Items, item)
	c.passive[n.Name] = true
	for _, t := range n.Transitions {
		c.passive[n.Name] = c.passive[n.Name] && (len(t.Tools) == 0 || t.Observe)
		if len(t.Tools) == 0 || slices.Contains(dead, t.Name) {
			continue
		}
		item := &Item{Kind: KindTransition, Net: n.Name, Name: t.Name, Rule: place(p.Source, n, t.Name)}
		c.moves[firing{n.Name, t.Name}] = item
		c.Items = append(c.Items, item)
	}
	c.named(n.Name, n.Maps)
}

// hit counts for an item, if there is one.
func (i *Item) hit() {
	if i != nil {
		i.Hits++
	}
}

// decided counts what a decision has exercised.
func (c *Coverage) decided(about decided, d gate.Decision) {
	for _, n := range about.names {
		for _, item := range c.maps[n.Text] {
			item.hit()
		}
	}
	for _, v := range about.said {
		if v.Kind != gate.Abstain && c.passive[v.Net] {
			c.rules[v.Net].hit()
		}
	}
	switch d := d.(type) {
	case *gate.Refusal:
		c.held(d)
	case *gate.Allow:
		for _, f := range c.chosen {
			c.moves[f].hit()
		}
		if d.Would != nil {
			c.held(d.Would)
		}
	}
	c.chosen = nil
}

// held counts for the rules that keep a call from passing by itself.
func (c *Coverage) held(r *gate.Refusal) {
	for _, b := range r.Blocks {
		c.rules[b.Net].hit()
	}
}

// place is where a transition was written, or else its net.
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
