package gate

import (
	"slices"

	"github.com/petrigate/petrigate/gate/internal/naming"
)

// couldHave reports whether the call has a name that u matches, or arguments could give it one.
func (c *namedCall) couldHave(n *net, u Tool) bool {
	return slices.ContainsFunc(c.labels, func(l naming.Label) bool { return naming.Matches(&u, &l) }) || c.couldGive(n, u, Perhaps)
}

// addSuspects adds to the call the nets whose evidence it may spoil.
func (s *State) addSuspects(c *OpenCall) *OpenCall {
	for i, n := range s.policy.nets {
		f := s.flight(n, c.Number, c.Call.Time)
		if n.spoils && !slices.Contains(c.Nets, i) && s.Nets[i].Waits(&f) {
			c.Nets = append(c.Nets, i)
			if c.Keys != nil {
				c.Keys = append(c.Keys, "")
			}
		}
	}
	return c
}

// allSpoilers returns the calls in flight that spoil evidence for all values or for some.
func allSpoilers(d *NetData) []Flight {
	all := slices.Clip(d.Spoilers())
	for _, of := range d.Values.All() {
		all = append(all, of.Spoilers()...)
	}
	return all
}
