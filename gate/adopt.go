package gate

import (
	"maps"
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate/internal/netstate"
	"github.com/petrigate/petrigate/gate/naming"
)

// A Fate describes what happens to a net's state if the policy changes.
type Fate uint8

const (
	Continued Fate = iota // the net is unchanged and keeps its state
	Carried               // the net is a limit that was changed; the usage so far still counts
	Begun                 // the net is new, changed or reset, and starts in its initial state
	Dropped               // the net is not in the new policy
	Held                  // the net has changed and must not be replaced yet; see [Policy.Adopt]
)

// String returns the fate in lower case.
func (f Fate) String() string {
	return [...]string{"continued", "carried", "begun", "dropped", "held"}[f]
}

// A Kept describes what [Policy.Adopt] did with a single net.
type Kept struct {
	Net  string
	Fate Fate

	// From is the name of the old net whose state or usage was taken over, if it differs from Net.
	From string

	// Lost means that state was lost: the net was dropped or restarted although it had left its
	// initial state or had calls in flight.
	Lost bool
}

// AdoptOptions are the options of [Policy.Adopt]. The zero value is ready to use.
type AdoptOptions struct {
	Active []string // names of the nets to activate; nil means all

	// Reset lists the nets of the new policy that start in their initial state, regardless of their
	// previous state.
	Reset []string

	// Time is the current time. The clocks of changed limits start at this time or, if Time is
	// zero, as soon as the time is known.
	Time time.Time
}

// Adopt converts s, a state of another policy, to a state of p. It does not modify s. It returns
// the fate of each net: first p's nets in order, then the dropped nets. [Policy.Heirs] determines
// which old net each net of p replaces.
//
//   - A net with an unchanged fingerprint keeps its state, even if its shadow mode is switched on or off. The fingerprint covers each [Map] that produces a name listed by the net.
//   - A limit from rules keeps its usage if its kind, its tools, its key and its scope are unchanged. Usage beyond the new maximum becomes a [Debt]. The clock for refunds starts at the current time.
//   - Any other net starts in its initial state. If that would lose the state of a hand-written net that is not in shadow mode, the net is [Held]: the caller must either keep the old policy or list the net in [AdoptOptions].Reset. In the returned state, a held net is in its initial state.
//
// Calls in flight and calls that wait for approval are preserved, and still change the nets that
// keep their state. If a restarted net has a transition with [Transition.Spoils], each open call
// that might match it is assumed to match.
func (p *Policy) Adopt(s *State, o AdoptOptions) (*State, []Kept) {
	if !o.Time.IsZero() {
		s = s.Clone()
		s.Apply(s.policy.Tick(s, o.Time))
	}
	a := &adoption{AdoptOptions: o, from: s, to: p.NewState(o.Active), numbers: make(map[int]int)}
	to := a.to
	to.Owners, to.Last, to.Spent, to.Tools, to.Would, to.Near = s.Owners, s.Last, slices.Clip(s.Spent), s.Tools, s.Would, s.Near
	to.Asks, to.ids = maps.Clone(s.Asks), maps.Clone(s.ids)
	heirs := p.Heirs(s.policy.IDs())
	for i, n := range p.nets {
		var old *net
		if heirs[i] >= 0 && !slices.Contains(o.Reset, n.Name) {
			old = s.policy.nets[heirs[i]]
		}
		if old == nil {
			old = s.policy.byName[n.Name]
			a.restart(n, old, old != nil && (slices.Contains(heirs, old.index) && heirs[i] != old.index))
			continue
		}
		a.inherit(n, old)
	}
	a.reportDropped(heirs)
	for _, c := range s.Calls {
		to.addCall(to.addSuspects(c.renumbered(a.numbers)))
	}
	return to, a.kept
}

// adoption holds the state of a single [Policy.Adopt] call.
type adoption struct {
	AdoptOptions
	from, to *State
	numbers  map[int]int // maps old net indexes to new ones; contains only nets that calls in flight can still change
	kept     []Kept
}

// inherit makes n take over the state or usage of old, the net that n replaces.
func (a *adoption) inherit(n, old *net) {
	k := Kept{Net: n.Name}
	if old.Name != n.Name {
		k.From = old.Name
	}
	ids, olds := a.to.policy.IDs(), a.from.policy.IDs()
	data := n.convertShadow(a.from.Nets[old.index])
	if ids[n.index].Print != olds[old.index].Print {
		k.Fate = Carried
		data = n.withUsageOf(old, data, ids[n.index].Family == olds[old.index].Family, a.Time)
	}
	if active := a.to.Nets[n.index].Active; data.Active != active {
		data = netstate.Switched(data, active)
	}
	a.to.Nets[n.index] = data
	a.numbers[old.index] = n.index
	a.kept = append(a.kept, k)
}

// restart starts n in its initial state. old is the previous net with the same name, or nil. If
// elsewhere is true, the state of old is not lost, because another net has taken it over.
func (a *adoption) restart(n, old *net, elsewhere bool) {
	k := Kept{Net: n.Name, Fate: Begun, Lost: !elsewhere && a.losesState(old)}
	if k.Lost && old.Labels == nil && !old.Shadow && !slices.Contains(a.Reset, n.Name) {
		k.Fate = Held
	}
	if n.spoils {
		a.to.Nets[n.index] = a.withSuspects(n, a.to.Nets[n.index], old)
		if old != nil && !elsewhere {
			a.numbers[old.index] = n.index
		}
	}
	a.kept = append(a.kept, k)
}

// withSuspects returns d, the initial state of the net n, with added suspects. A suspect is an open
// call that might prevent other calls from meeting the net's requirements; see [Transition.Spoils].
// The calls recorded as spoilers in the state of old, the previous net with the same name, are
// always added. old may be nil. withSuspects does not modify d.
func (a *adoption) withSuspects(n *net, d *NetData, old *net) *NetData {
	s, t := a.from, slices.IndexFunc(n.Transitions, func(t Transition) bool { return t.Spoils })
	var suspects []Flight
	if old != nil {
		for _, f := range allSpoilers(s.Nets[old.index]) {
			if !slices.ContainsFunc(suspects, func(g Flight) bool { return g.SameCall(&f) }) { // a call can appear several times, once for each key value
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

// maySpoil reports whether the call c might prevent other calls from meeting the requirements of
// the net n; see [Transition.Spoils]. It assumes that c can have any arguments, because open calls
// are usually stored without them.
func (a *adoption) maySpoil(n *net, c *Call) bool {
	bare := *c
	bare.Args = nil
	j := &a.to.policy.Prepare(bare).judgement
	return slices.ContainsFunc(n.Transitions, func(t Transition) bool {
		return t.Spoils && (n.Mapper != nil || slices.ContainsFunc(t.Tools, func(u Tool) bool { return j.couldHave(n, u) }))
	})
}

// reportDropped adds to a.kept the nets that have no successor in the new policy.
func (a *adoption) reportDropped(heirs []int) {
	for _, old := range a.from.policy.nets {
		same := a.to.policy.byName[old.Name]
		if !slices.Contains(heirs, old.index) && (same == nil || heirs[same.index] >= 0) {
			a.kept = append(a.kept, Kept{Net: old.Name, Fate: Dropped, Lost: a.losesState(old)})
		}
	}
}

// losesState reports whether n, a net of the old policy, would lose state if it were restarted. n
// may be nil.
func (a *adoption) losesState(n *net) bool {
	if n == nil {
		return false
	}
	whole := a.from.Nets[n.index]
	d := whole.Deciding()
	return n.moved(d) || len(d.Watches) > 0 || whole.Values.Len() > 0
}

// convertShadow adapts the state d to n's mode. In shadow mode, a state also contains an enforced
// state: the state that would have resulted if the nets in shadow mode had blocked calls; see
// [ShadowData]. If it is missing, convertShadow adds a copy of d. If n is not in shadow mode,
// convertShadow removes it. If nothing has to be changed, convertShadow returns d itself.
func (n *net) convertShadow(d *NetData) *NetData {
	if n.Shadow == (d.Shadow != nil) {
		return d
	}
	c := *d
	if c.Shadow = nil; n.Shadow {
		enforced := *d
		enforced.Values = nil
		c.Shadow = &ShadowData{Enforced: &enforced}
	}
	c.Values = netstate.MapValues(d.Values, &c, n.convertShadow)
	return &c
}

// withUsageOf returns a state for the limit n, which replaces the limit old. It carries over the
// usage recorded in d, the state of old. If family is true, the limits differ only in their
// maximum. The new state then also keeps the waiting observers: transitions that fire if an open
// call succeeds, for example to refill the limit.
func (n *net) withUsageOf(old *net, d *NetData, family bool, t time.Time) *NetData {
	one := func(d *NetData) *NetData {
		c := &NetData{Active: d.Active, Meta: d.Meta}
		for _, f := range d.Flights {
			f.Transition = n.budget.spend
			c.Flights = append(c.Flights, f)
		}
		if family {
			c.Watches = d.Watches
			netstate.SetLapsed(c, d.Lapsed())
		}
		netstate.SetRow(c, d.Row())
		return n.charge(c, old.usage(d, t), t)
	}
	both := func(d *NetData) *NetData {
		c := one(d)
		if d.Shadow != nil {
			c.Shadow = &ShadowData{Enforced: one(d.Shadow.Enforced), Refused: d.Shadow.Refused, Asked: d.Shadow.Asked}
		}
		return c
	}
	c := both(d)
	c.Values = netstate.MapValues(d.Values, c, both)
	return c
}

// renumbered returns a copy of the open call c for another policy. numbers maps the net indexes in
// c to those of the other policy. Nets missing from numbers are dropped.
func (c *OpenCall) renumbered(numbers map[int]int) *OpenCall {
	moved := *c
	moved.Nets, moved.Keys = nil, nil
	for k, old := range c.Nets {
		if i, ok := numbers[old]; ok {
			moved.Nets = append(moved.Nets, i)
			if c.Keys != nil {
				moved.Keys = append(moved.Keys, c.Keys[k])
			}
		}
	}
	return &moved
}

// couldHave reports whether u, a tool listed by n, matches the call or would match it if the call
// had suitable arguments.
func (c *namedCall) couldHave(n *net, u Tool) bool {
	return slices.ContainsFunc(c.labels, func(l naming.Label) bool { return naming.Matches(&u, &l) }) || c.couldGive(n, u, Perhaps)
}

// addSuspects adds to c.Nets each net whose new state contains the open call c as a suspect; see
// [adoption.withSuspects]. It returns c.
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

// allSpoilers returns the calls in flight that prevent other calls from meeting requirements (see
// [Extras]). It searches d and the states that d holds for individual key values. A call can appear
// several times.
func allSpoilers(d *NetData) []Flight {
	all := slices.Clip(d.Spoilers())
	for _, of := range d.Values.All() {
		all = append(all, of.Spoilers()...)
	}
	return all
}
