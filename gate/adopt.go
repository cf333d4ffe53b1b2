package gate

import (
	"maps"
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate/internal/netstate"
)

// Fate says whether the state of a net survives when another policy takes over.
type Fate uint8

const (
	Continued Fate = iota // the net is the same, and so is its state
	Carried               // the net is a limit that has changed: what is used up stays so
	Begun                 // the net is new, or has changed: it is at its start
	Dropped               // the new policy does not have the net
	Held                  // the net has changed, and is not replaced: see [Policy.Adopt]
)

// String returns the fate in lower case.
func (f Fate) String() string {
	return [...]string{"continued", "carried", "begun", "dropped", "held"}[f]
}

// A Kept is the result of [Policy.Adopt] for one net.
type Kept struct {
	Net  string
	Fate Fate

	// From is the net whose state, or what is used up of it, the net has, where that
	// had another name.
	From string

	// Lost says that the state of a net that is dropped, or begun anew, was not
	// that of its start, or had calls in flight.
	Lost bool
}

// AdoptOptions say how a policy takes over. The zero value is ready to use.
type AdoptOptions struct {
	Active []string // the nets that are active; nil: all

	// Reset are nets of the new policy that begin at their start, whatever their state
	// is.
	Reset []string

	// Time is now. A limit that has changed begins to give back from then on. If it is
	// zero, that is so from the first time that is known.
	Time time.Time
}

// Adopt converts the state s of another policy to a state of to, and reports the
// fate of each net: those of to in order, then the dropped ones. [Policy.Heirs] says which
// nets are the same.
//
//   - A net whose fingerprint is unchanged, with the maps that feed it, keeps its state,
//     in shadow or not.
//   - A limit of rules that counts the same calls for the same callers keeps what is used
//     up, and leaves what is beyond that. Where it is more than there is now, that is
//     remembered: there is none left until it is given back, and none more if the
//     limit grows again. What the clock brings back, it brings back from now on.
//   - Any other net begins at its start, unless it is hand-written, enforces, and its
//     state was not that of its start, or had calls in flight: then it is [Held], and the
//     caller does not put the new policy in force, or resets the net. In the state that
//     is returned it is at its start.
//
// Calls in flight and calls that wait stay, and move the nets that are kept. Where a
// net begins, the calls in flight that may spoil its evidence do so. Adopt does not
// change s.
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
			a.begin(n, old, old != nil && (slices.Contains(heirs, old.index) && heirs[i] != old.index))
			continue
		}
		a.succeed(n, old)
	}
	a.drop(heirs)
	for _, c := range s.Calls {
		to.addCall(to.suspected(c.renumbered(a.numbers)))
	}
	return to, a.kept
}

// adoption is the work of [Policy.Adopt].
type adoption struct {
	AdoptOptions
	from, to *State
	numbers  map[int]int // of the nets whose calls in flight still move a net, by their old numbers
	kept     []Kept
}

// succeed gives n the state of old, or what is used up of it.
func (a *adoption) succeed(n, old *net) {
	k := Kept{Net: n.Name}
	if old.Name != n.Name {
		k.From = old.Name
	}
	ids, olds := a.to.policy.IDs(), a.from.policy.IDs()
	data := n.inShadow(a.from.Nets[old.index])
	if ids[n.index].Print != olds[old.index].Print {
		k.Fate = Carried
		data = n.carried(old, data, ids[n.index].Family == olds[old.index].Family, a.Time)
	}
	if active := a.to.Nets[n.index].Active; data.Active != active {
		data = netstate.Switched(data, active)
	}
	a.to.Nets[n.index] = data
	a.numbers[old.index] = n.index
	a.kept = append(a.kept, k)
}

// begin lets n begin at its start; old is the net of its name before, if there was one,
// and elsewhere says that another net has its state.
func (a *adoption) begin(n, old *net, elsewhere bool) {
	k := Kept{Net: n.Name, Fate: Begun, Lost: !elsewhere && old.loses(a.from)}
	if k.Lost && old.Labels == nil && !old.Shadow && !slices.Contains(a.Reset, n.Name) {
		k.Fate = Held
	}
	if n.spoils {
		a.to.Nets[n.index] = a.to.policy.suspecting(a.from, n, a.to.Nets[n.index], old)
		if old != nil && !elsewhere {
			a.numbers[old.index] = n.index
		}
	}
	a.kept = append(a.kept, k)
}

// drop reports the nets that the new policy does not have.
func (a *adoption) drop(heirs []int) {
	for _, old := range a.from.policy.nets {
		same := a.to.policy.byName[old.Name]
		if !slices.Contains(heirs, old.index) && (same == nil || heirs[same.index] >= 0) {
			a.kept = append(a.kept, Kept{Net: old.Name, Fate: Dropped, Lost: old.loses(a.from)})
		}
	}
}

// loses reports whether the net exists and is not at its start.
func (n *net) loses(s *State) bool {
	if n == nil {
		return false
	}
	whole := s.Nets[n.index]
	d := whole.Deciding()
	return n.moved(d) || len(d.Watches) > 0 || whole.Values.Len() > 0
}

// moved reports whether the net is not as at its start, or has calls in flight.
func (n *net) moved(d *NetData) bool {
	return len(d.Flights) > 0 || d.Spent != nil || d.Debt() != nil || d.Values.Len() > 0 || !slices.Equal(d.Marking, []int(n.start))
}

// inShadow returns the state d of a net as that of n, which may be in shadow where the net
// was not, or the other way round: then it is as the calls that were made have moved it.
func (n *net) inShadow(d *NetData) *NetData {
	if n.Shadow == (d.Shadow != nil) {
		return d
	}
	c := *d
	if c.Shadow = nil; n.Shadow {
		enforced := *d
		enforced.Values = nil
		c.Shadow = &ShadowData{Enforced: &enforced}
	}
	return n.forEach(&c, d.Values, n.inShadow)
}

// carried returns the state of n in which what d, a state of another limit of the same
// calls, has used up is used up. Of limits of one family it keeps what waits too.
func (n *net) carried(old *net, d *NetData, family bool, t time.Time) *NetData {
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
		return n.charge(c, old.used(d, t), t)
	}
	both := func(d *NetData) *NetData {
		c := one(d)
		if d.Shadow != nil {
			c.Shadow = &ShadowData{Enforced: one(d.Shadow.Enforced), Refused: d.Shadow.Refused, Asked: d.Shadow.Asked}
		}
		return c
	}
	return n.forEach(both(d), d.Values, both)
}

// forEach returns d, which is not shared yet, with those of the values that differ from it
// after f.
func (n *net) forEach(d *NetData, values *Values, f func(*NetData) *NetData) *NetData {
	if d.Values = nil; values.Len() == 0 {
		return d
	}
	d.Values = &Values{}
	for key, old := range values.All() {
		if one := f(old); !netstate.Like(one, d) {
			netstate.Put(d.Values, key, one)
		}
	}
	return d
}

// renumbered returns c with the numbers of its nets in another policy.
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
