package gate

import (
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate/internal/naming"
	"github.com/petrigate/petrigate/gate/internal/netstate"
)

// findSpoilers finds the transitions that let the call spoil the evidence of the net, regardless of the
// marking. Weak and free names count, and so does a call that the net blocks but that is made
// nevertheless. If the net cannot name the call, all spoiling transitions count.
func (f *finding) findSpoilers(call *Call) {
	if f.broken {
		f.makeSpecial().spoils = f.net.allSpoils(call.Tool)
		return
	}
	spared := f.net.listing.Spared(f.labels)
	for i := range f.labels {
		lists, _ := f.net.listing.Lookup(&f.labels[i])
		for _, t := range lists {
			heard := slices.ContainsFunc(f.spoils(), func(c choice) bool { return c.transition == t })
			if f.net.Transitions[t].Spoils && !heard && !slices.Contains(spared, t) && f.concerns(t) {
				s := f.makeSpecial()
				s.spoils = append(s.spoils, choice{transition: t, name: f.labels[i].Text})
			}
		}
	}
}

// allSpoils returns all transitions of the net that spoil evidence.
func (n *net) allSpoils(name string) (spoils []choice) {
	for t := range n.Transitions {
		if n.Transitions[t].Spoils {
			spoils = append(spoils, choice{transition: t, name: name})
		}
	}
	return spoils
}

// concerns reports whether a transition that spoils evidence applies to the value of the finding,
// or to all values because the call has none.
func (f *finding) concerns(t int) bool {
	all := func(c choice) bool { return c.transition == t }
	return f.plan() == nil || f.appliesTo(t) || slices.ContainsFunc(f.plan().spoils, all)
}

// spoiled reports whether t waits for the success of the call although that success will not be
// evidence, because this call or one in flight spoils it.
func (f *finding) spoiled(t int) bool {
	return f.net.Transitions[t].Deferred && (len(f.data.Spoilers())+len(f.spoils()) > 0 || f.base() != nil && len(f.base().Spoilers()) > 0)
}

// spoil fires the enabled ones of the spoiling transitions and ends all watches. No watch starts
// until the call has ended. An inactive net keeps its tokens.
func (m *move) spoil(spoils []choice, call Flight) {
	if len(spoils) == 0 {
		return
	}
	m.fireSpoilers(spoils)
	for _, c := range spoils {
		call.Transition, call.Name = c.transition, c.name
		netstate.SetSpoilers(m.data, append(slices.Clip(m.data.Spoilers()), call))
	}
	m.lapseDisabled()
}

// fireSpoilers fires the enabled ones of the spoiling transitions and ends all watches.
func (m *move) fireSpoilers(spoils []choice) {
	for _, c := range spoils {
		if t := &m.net.net.Transitions[c.transition]; m.data.Active && t.Enabled(m.data.Marking) {
			t.Fire(m.marking())
		}
	}
	m.data.Watches = nil
}

// spoilValues returns the states for values after spoiling transitions moved the default state from
// base to after, for all values. enforced reports whether they did so, too, in the world where the
// nets in shadow mode block.
func (n *net) spoilValues(base, after *NetData, spoils []choice, now time.Time, enforced bool) *Values {
	values := &Values{}
	for key, old := range base.Values.All() {
		d := n.withSpoilersFired(n.advanced(old, base, now), spoils, now)
		if d.Shadow != nil && enforced {
			d.Shadow = &ShadowData{Enforced: n.withSpoilersFired(d.Shadow.Enforced, spoils, now)}
		}
		if !netstate.EqualsDefault(d, after) {
			netstate.Put(values, key, d)
		}
	}
	return values
}

func (n *net) withSpoilersFired(old *NetData, spoils []choice, now time.Time) *NetData {
	m := newMove(n, old, &NetData{})
	m.fireSpoilers(spoils)
	if m.data.Active {
		m.fireStructural()
	}
	m.updateClock(old, now)
	return m.data
}

// spoilers returns the calls in flight that spoil evidence for the net.
func (f *finding) spoilers(s *State) (held []Holder) {
	if len(f.net.spoiledEvidence) == 0 {
		return nil
	}
	all := f.data.Spoilers()
	if f.base() != nil && f.base() != f.data {
		all = slices.Concat(f.base().Spoilers(), all)
	}
	for i, flight := range all {
		if slices.ContainsFunc(all[:i], func(g Flight) bool { return g.SameCall(&flight) }) {
			continue
		}
		h := s.holder(f.net, flight)
		h.Voids = strings.Join(f.net.spoiledEvidence, " or ")
		held = append(held, h)
	}
	return held
}

// restarted returns the net in its initial state, as after a reset. Calls in flight that spoil its
// evidence continue to do so.
func (n *net) restarted(d *NetData) *NetData {
	r := n.reset(d)
	if d.Shadow != nil {
		r.Shadow = &ShadowData{Enforced: n.reset(d.Shadow.Enforced)}
	}
	if d.Values.Len() > 0 {
		r.Values = n.restartedValues(r, d.Values)
	}
	return r
}

// restartedValues returns the states for the values whose evidence a call in flight spoils.
func (n *net) restartedValues(base *NetData, old *Values) *Values {
	values := &Values{}
	for key, d := range old.All() {
		one := netstate.ForNewValue(base)
		netstate.SetSpoilers(&one, d.Spoilers())
		if one.Shadow != nil {
			netstate.SetSpoilers(one.Shadow.Enforced, d.Shadow.Enforced.Spoilers())
		}
		if !netstate.EqualsDefault(&one, base) {
			netstate.Put(values, key, &one)
		}
	}
	return values
}

// withSuspects returns the initial state d of the net with the calls of s in flight that may spoil
// its evidence. These are the calls that spoiled evidence of the net that it replaces, and every
// call that might have a name listed by a spoiling transition. Only the tools of those calls are
// known, not their arguments.
func (p *Policy) withSuspects(s *State, n *net, d *NetData, old *net) *NetData {
	t := slices.IndexFunc(n.Transitions, func(t Transition) bool { return t.Spoils })
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
		if c := s.Calls[open.Number]; !known && p.maySpoil(n, &c.Call) {
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
func (p *Policy) maySpoil(n *net, c *Call) bool {
	bare := *c
	bare.Args = nil
	j := &p.Prepare(bare).judgement
	for i := range n.Transitions {
		t := &n.Transitions[i]
		if t.Spoils && (n.Mapper != nil || slices.ContainsFunc(t.Tools, func(u Tool) bool { return j.couldHave(n, u) })) {
			return true
		}
	}
	return false
}

// couldHave reports whether the call has a name that u matches, or arguments could give it one.
func (j *judgement) couldHave(n *net, u Tool) bool {
	return slices.ContainsFunc(j.labels, func(l naming.Label) bool { return naming.Matches(&u, &l) }) || j.couldGive(n, u, Perhaps)
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
