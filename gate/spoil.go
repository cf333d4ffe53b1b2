package gate

import (
	"slices"
	"strings"
)

// hear finds the transitions that the call makes spoil the evidence of the net,
// whatever the marking: weak and free names count, and so does a call that the net
// blocks but that is made all the same. Of a call that the net cannot name, all do.
func (f *finding) hear(call *Call) {
	if f.broken {
		for t := range f.net.Transitions {
			if f.net.Transitions[t].Spoils {
				f.spoils = append(f.spoils, choice{transition: t, name: call.Tool})
			}
		}
		return
	}
	spared := f.net.spared(f.labels)
	for i := range f.labels {
		lists, _ := f.net.lookup(&f.labels[i])
		for _, t := range lists {
			heard := slices.ContainsFunc(f.spoils, func(c choice) bool { return c.transition == t })
			if f.net.Transitions[t].Spoils && !heard && !slices.Contains(spared, t) {
				f.spoils = append(f.spoils, choice{transition: t, name: f.labels[i].text})
			}
		}
	}
}

// void reports whether t waits for the success of the call, which is no evidence
// because a call that spoils it is under way, or is this one.
func (f *finding) void(t int) bool {
	return f.net.Transitions[t].Deferred && len(f.data.Spoilers)+len(f.spoils) > 0
}

// spoil fires the transitions that spoil, where they are enabled, and ends every
// watch. None begins until the call has ended. An inactive net keeps its tokens.
func (m *move) spoil(spoils []choice, call Flight) {
	if len(spoils) == 0 {
		return
	}
	for _, c := range spoils {
		if t := &m.net.net.Transitions[c.transition]; m.data.Active && t.Enabled(m.data.Marking) {
			t.Fire(m.marking())
		}
		call.Transition, call.Name = c.transition, c.name
		m.data.Spoilers = append(slices.Clip(m.data.Spoilers), call)
	}
	m.data.Watches = nil
}

// spoilers returns the calls under way that spoil evidence for the net.
func (f *finding) spoilers(s *State) (held []Holder) {
	if len(f.net.evidence) == 0 {
		return nil
	}
	for i, flight := range f.data.Spoilers {
		if slices.ContainsFunc(f.data.Spoilers[:i], func(g Flight) bool { return g.of(&flight) }) {
			continue
		}
		h := s.holder(f.net, flight)
		h.Voids = strings.Join(f.net.evidence, " or ")
		held = append(held, h)
	}
	return held
}

// gatherEvidence lists the names of the calls whose success is evidence for a net with
// spoilers.
func (n *net) gatherEvidence() {
	for i := range n.Transitions {
		n.spoils = n.spoils || n.Transitions[i].Spoils
	}
	for i := range n.Transitions {
		if t := &n.Transitions[i]; n.spoils && t.Observe && t.Deferred {
			for _, tool := range t.Tools {
				if !slices.Contains(n.evidence, tool.Name) {
					n.evidence = append(n.evidence, tool.Name)
				}
			}
		}
	}
}

// restarted returns the net at its start, as after a reset. The calls that spoil its
// evidence are still under way.
func (n *net) restarted(d *NetData) *NetData {
	r := n.fresh(d.Active)
	r.Spoilers = d.Spoilers
	if r.Shadow != nil {
		r.Shadow.Enforced.Spoilers = d.Shadow.Enforced.Spoilers
	}
	return r
}

// suspecting returns the state d of the net, which begins, with the calls of s in flight that may spoil
// its evidence: those that spoiled that of the net which it replaces, and any call whose
// names, as far as its tool tells, a transition lists that spoils. The arguments of
// those calls are not known.
func (p *Policy) suspecting(s *State, n *net, d *NetData, old *net) *NetData {
	t := slices.IndexFunc(n.Transitions, func(t Transition) bool { return t.Spoils })
	var suspects []Flight
	if old != nil {
		for _, f := range s.Nets[old.index].Spoilers {
			suspects = append(suspects, Flight{Owner: f.Owner, Call: f.Call, Transition: t, Name: f.Name, Since: f.Since})
		}
	}
	for _, open := range s.Open() {
		f := s.flight(n, open.Number, open.Since)
		known := slices.ContainsFunc(suspects, func(g Flight) bool { return g.of(&f) })
		if c := s.Calls[open.Number]; !known && p.suspects(n, &c.Call) {
			f.Transition, f.Name = t, open.Tool
			suspects = append(suspects, f)
		}
	}
	if len(suspects) == 0 {
		return d
	}
	c := *d
	c.Spoilers = suspects
	if c.Shadow != nil {
		enforced := *c.Shadow.Enforced
		enforced.Spoilers = suspects
		c.Shadow = &ShadowData{Enforced: &enforced}
	}
	return &c
}

// suspects reports whether the call, of which only the tool is known, may have a name
// by which it spoils evidence of the net.
func (p *Policy) suspects(n *net, c *Call) bool {
	bare := *c
	bare.Args = nil
	j := &p.Prepare(bare).judgement
	for i := range n.Transitions {
		t := &n.Transitions[i]
		if t.Spoils && (n.Mapper != nil || slices.ContainsFunc(t.Tools, func(u Tool) bool { return j.could(n, u) })) {
			return true
		}
	}
	return false
}

// could reports whether the call has a name that u matches, or arguments could give
// it one.
func (j *judgement) could(n *net, u Tool) bool {
	return slices.ContainsFunc(j.labels, func(l label) bool { return l.glob == 0 && u.is(&l) }) || j.gives(n, u, Perhaps)
}

// suspected adds to the call the nets whose evidence it may spoil.
func (s *State) suspected(c *OpenCall) *OpenCall {
	for i, n := range s.policy.nets {
		f := s.flight(n, c.Number, c.Call.Time)
		if n.spoils && !slices.Contains(c.Nets, i) && s.Nets[i].waits(&f) {
			c.Nets = append(c.Nets, i)
		}
	}
	return c
}
