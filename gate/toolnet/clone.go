package toolnet

import (
	"maps"
	"slices"
)

// Clone returns a copy of the net that shares only functions and labels with it.
func (n *Net) Clone() Net {
	c := *n
	c.Places, c.Terminal = slices.Clone(n.Places), slices.Clone(n.Terminal)
	c.Free, c.Key = slices.Clone(n.Free), slices.Clone(n.Key)
	c.Maps, c.Phases = slices.Clone(n.Maps), slices.Clone(n.Phases)
	for i := range c.Phases {
		c.Phases[i].Tools = slices.Clone(c.Phases[i].Tools)
	}
	if n.Sum != nil {
		sum := *n.Sum
		c.Sum = &sum
	}
	c.Initial, c.Recovery = maps.Clone(n.Initial), maps.Clone(n.Recovery)
	c.Transitions = slices.Clone(n.Transitions)
	for i := range c.Transitions {
		t := &c.Transitions[i]
		t.Inputs, t.Outputs = slices.Clone(t.Inputs), slices.Clone(t.Outputs)
		t.Tools, t.Unless, t.Key = slices.Clone(t.Tools), slices.Clone(t.Unless), slices.Clone(t.Key)
	}
	return c
}
