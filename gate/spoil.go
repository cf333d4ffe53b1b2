package gate

import (
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate/internal/netstate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/petri"
)

// findSpoilers stores in f the transitions with [Transition.Spoils] to apply when the call is
// admitted. These transitions list a name of the call, even a weak or free one (see [Name] and
// [Net.Free]), and need not be enabled. In a net with a key, they must affect f's key value; see
// [finding.concerns]. If the names are unknown because the net's Mapper has failed, findSpoilers
// stores all transitions with Spoils.
func (f *finding) findSpoilers(call *Call) {
	if f.broken {
		f.makeSpecial().spoils = f.net.allSpoils(call.Tool)
		return
	}
	spared := f.net.listing.Spared(f.labels)
	for i := range f.labels {
		lists, _ := f.net.listing.Lookup(&f.labels[i], spared)
		for _, t := range lists {
			heard := slices.ContainsFunc(f.spoils(), func(c choice) bool { return c.transition == t })
			if f.net.Transitions[t].Spoils && !heard && f.concerns(t) {
				s := f.makeSpecial()
				s.spoils = append(s.spoils, choice{transition: t, name: f.labels[i].Text})
			}
		}
	}
}

// concerns reports whether the transition t, which has [Transition.Spoils], affects f's key value.
// If the call has no value for the transition's key, the transition affects all key values.
func (f *finding) concerns(t int) bool {
	all := func(c choice) bool { return c.transition == t }
	return f.plan == nil || f.appliesTo(t) || slices.ContainsFunc(f.plan.spoils, all)
}

// spoiled reports whether the transition t is deferred and will not count the call's success,
// because this call or a call in flight matches a transition with [Transition.Spoils].
func (f *finding) spoiled(t int) bool {
	return f.net.Transitions[t].Deferred && (len(f.data.Spoilers())+len(f.spoils()) > 0 || f.base != nil && len(f.base.Spoilers()) > 0)
}

// spoil applies the given transitions, which have [Transition.Spoils], when the given call is
// admitted. If the net is active, spoil fires those that are enabled. Observers stop waiting for
// earlier calls, and do not wait for later ones until this call has ended.
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

// fireSpoilers fires the given transitions that are enabled, if the net is active. It also makes
// the observers stop waiting for earlier calls, even in an inactive net.
func (m *move) fireSpoilers(spoils []choice) {
	for _, c := range spoils {
		if t := &m.net.net.Transitions[c.transition]; m.data.Active && t.Enabled(m.data.Marking) {
			t.Fire(m.marking())
		}
	}
	m.data.Watches = nil
}

// A baseChange describes how a call changes the states for key values when it changes the net's
// default state; see [NetData].
type baseChange struct {
	spoils   []choice  // transitions with [Transition.Spoils] to fire for all key values
	late     *Flight   // the call, if observers wait for it and calls with higher numbers may have been admitted before it; otherwise nil; see [net.withLateWatches]
	time     time.Time // when the call was made
	enforced bool      // whether to fire the transitions in the enforced states, too; see [ShadowData]
}

// baseChange returns the changes that the call with the given number makes to the states for all
// key values. The result is empty unless s holds the default state (see [NetData]) of a net with a
// key.
func (j *judgement) baseChange(s *subject, number uint64) (c baseChange) {
	if s.plan == nil || s.value != nil {
		return c
	}
	c.spoils, c.time = s.plan.spoils, j.call.Time
	if number < j.state.Last && len(s.plan.watches) > 0 {
		call := j.state.flight(s.net, number, j.call.Time)
		c.late = &call
	}
	return c
}

// isEmpty reports whether c changes nothing.
func (c *baseChange) isEmpty() bool { return len(c.spoils) == 0 && c.late == nil }

// valuesAfter returns the states for all key values after a call that changes the net's default
// state (see [NetData]) from base to after. c describes the changes to the states for key values.
func (n *net) valuesAfter(base, after *NetData, c baseChange) *Values {
	return netstate.MapValues(base.Values, after, func(old *NetData) *NetData {
		d := n.advanced(old, base, c.time)
		if len(c.spoils) > 0 {
			d = n.withSpoilersFired(d, c.spoils, c.time)
			if d.Shadow != nil && c.enforced {
				d.Shadow = &ShadowData{Enforced: n.withSpoilersFired(d.Shadow.Enforced, c.spoils, c.time)}
			}
		}
		if c.late != nil {
			d = n.withLateWatches(d, after, c.late)
			if d.Shadow != nil {
				d.Shadow = &ShadowData{Enforced: n.withLateWatches(d.Shadow.Enforced, after.Shadow.Enforced, c.late)}
			}
		}
		return d
	})
}

// withLateWatches returns old, the state for a single key value, with a record of the observers
// that are disabled in this state. These observers will not count the call. The record is needed if
// observers in base, the net's default state (see [NetData]), wait for a call that may be admitted
// after calls with higher numbers.
//
// The record must be made at once. Later, [move.wasEnabled] would assume that calls with higher
// numbers were admitted after this call, and could ignore that they had already disabled an
// observer.
func (n *net) withLateWatches(old, base *NetData, call *Flight) *NetData {
	m := newMove(n, old, &NetData{})
	m.baseWatches = list.Filter(base.Watches, func(w Flight) bool { return w.SameCall(call) })
	m.lapseDisabled()
	return m.data
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

// spoilers returns the calls in flight that keep other calls from meeting the net's requirements;
// see [Transition.Spoils].
func (f *finding) spoilers(s *State) (held []Holder) {
	if len(f.net.spoiledEvidence) == 0 {
		return nil
	}
	all := f.data.Spoilers()
	if f.base != nil && f.base != f.data {
		all = slices.Concat(f.base.Spoilers(), all)
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

// chooseEvidence chooses the transitions with [Transition.Evidence] that will fire if the call
// succeeds. It considers only those that are enabled after the call has been admitted; see
// [finding.markingAfter].
func (f *finding) chooseEvidence(spared []int) {
	var after petri.Marking
	for i := range f.labels {
		lists, free := f.net.listing.Lookup(&f.labels[i], spared)
		if free || f.labels[i].Weak {
			continue
		}
		if f.plan != nil {
			lists = f.withValue(lists)
		}
		for _, t := range lists {
			if !f.net.Transitions[t].Evidence || f.chosen(t) || f.spoiled(t) {
				continue
			}
			if after == nil {
				after = f.markingAfter()
			}
			if f.net.net.Transitions[t].Enabled(after) {
				f.add(t, i)
			}
		}
	}
}

// markingAfter returns the marking after the call is admitted. By then, the chosen transitions that
// gate the call have consumed their tokens. Those that are not deferred have also produced their
// outputs.
func (f *finding) markingAfter() petri.Marking {
	m := petri.Marking(slices.Clone(f.data.Marking))
	for _, c := range f.choices {
		if t := &f.net.net.Transitions[c.transition]; f.net.Transitions[c.transition].Deferred {
			t.Take(m)
		} else {
			t.Fire(m)
		}
	}
	return m
}
