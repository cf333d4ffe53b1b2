package gate

import (
	"slices"

	"github.com/petrigate/petrigate/gate/internal/naming"
	"github.com/petrigate/petrigate/gate/internal/netstate"
)

// withSuspects returns the initial state d of the net with the calls in flight that may spoil its
// evidence. These are the calls that spoiled evidence of the net that it replaces, and every
// call that might have a name listed by a spoiling transition. Only the tools of those calls are
// known, not their arguments.
func (a *adoption) withSuspects(n *net, d *NetData, old *net) *NetData {
	s, t := a.from, slices.IndexFunc(n.Transitions, func(t Transition) bool { return t.Spoils })
	var suspects []Flight
	if old != nil {
		for _, f := range allSpoilers(s.Nets[old.index]) {
			if !slices.ContainsFunc(suspects, func(g Flight) bool { return g.SameCall(&f) }) { // a call can spoil several values
				suspects = append(suspects, Flight{Owner: f.Owner, Call: f.Call, Transition: t, Name: f.Name, Since: f.Since})
			}
		}
	}
	for _, open := range s.Open() {
		f := s.flight(n, open.Number, open.Since)
		known := slices.ContainsFunc(suspects, func(g Flight) bool { return g.SameCall(&f) })
		if c := s.Calls[open.Number]; !known && a.maySpoil(n, &c.Call) {
			f.Transition, f.Name = t, open.Tool
			suspects = append(suspects, f)
		}
	}
	if len(suspects) == 0 {
		return d
	}
	c := *d
	netstate.SetSpoilers(&c, suspects)
	if c.Shadow != nil {
		enforced := *c.Shadow.Enforced
		netstate.SetSpoilers(&enforced, suspects)
		c.Shadow = &ShadowData{Enforced: &enforced}
	}
	return &c
}

// maySpoil reports whether the call, whose arguments are unknown, might spoil evidence of the net.
func (a *adoption) maySpoil(n *net, c *Call) bool {
	bare := *c
	bare.Args = nil
	j := &a.to.policy.Prepare(bare).judgement
	for i := range n.Transitions {
		t := &n.Transitions[i]
		if t.Spoils && (n.Mapper != nil || slices.ContainsFunc(t.Tools, func(u Tool) bool { return j.couldHave(n, u) })) {
			return true
		}
	}
	return false
}

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
