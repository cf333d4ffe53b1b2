package netstate

import (
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate/toolnet"
)

// NetData is the state of one net. It is replaced and never changed.
type NetData struct {
	Active  bool
	Stuck   bool  // it does not come to rest by itself
	Marking []int // tokens at hand, by place; those in flight are not among them
	Flights []Flight
	Watches []Flight
	Meta    toolnet.Meta
	Shadow  *ShadowData // of a net in shadow, of which the rest is the actual state; nil for others
	Spent   *Spent      // of a net with a sum; nil: nothing
	Clock   *Clock      // nil: it has no clock, or no time was told yet
	Apart   *Apart      // what few nets have; nil: nothing

	// Of a net with a key, this is the state for every value that Values does not
	// have. Its watches are those whose value is in the result, and its spoilers are
	// those that spoil all values.
	Values *Values
}

// A Flight is a transition that waits for the end of a call.
type Flight struct {
	Owner      uint64 // the session of the call, see the owners of the state
	Call       uint64
	Transition int       // its index
	Name       string    // of the call
	Since      time.Time // of the call
}

// Is reports whether both belong to one call.
func (f *Flight) Is(g *Flight) bool { return f.Owner == g.Owner && f.Call == g.Call }

// ShadowData is the further state of a net in shadow. It is replaced and never
// changed.
type ShadowData struct {
	Enforced *NetData // the net as it would be if the nets in shadow had blocked; assumes that people agree
	Refused  int      // calls that it would have refused
	Asked    int      // calls for which it would have asked a person
}

// Deciding is the state by which the net decides.
func (d *NetData) Deciding() *NetData {
	if d.Shadow != nil {
		return d.Shadow.Enforced
	}
	return d
}

// Waits reports whether the net waits for the end of the call.
func (d *NetData) Waits(call *Flight) bool {
	its := func(f Flight) bool { return f.Is(call) }
	return slices.ContainsFunc(d.Flights, its) || slices.ContainsFunc(d.Watches, its) || slices.ContainsFunc(d.Spoilers(), its)
}

// Owes reports whether a place has a negative number of tokens.
func Owes(d *NetData) bool {
	return slices.ContainsFunc(d.Marking, func(tokens int) bool { return tokens < 0 })
}

// Switched returns d as active or inactive.
func Switched(d *NetData, active bool) *NetData {
	c := *d
	c.Active = active
	if !active {
		c.Watches, c.Clock = nil, nil
		if c.Spent != nil {
			c.Spent = &Spent{Amount: c.Spent.Amount}
		}
	}
	if c.Shadow != nil {
		shadow := *c.Shadow
		shadow.Enforced = Switched(shadow.Enforced, active)
		c.Shadow = &shadow
	}
	if c.Values.Len() > 0 {
		values := &Values{}
		for key, d := range d.Values.All() {
			values.put(key, Switched(d, active))
		}
		c.Values = values
	}
	return &c
}

// Single returns the state for a value of which nothing is kept yet.
func Single(d *NetData) NetData {
	c := *d
	c.Values, c.Watches = nil, nil
	if len(c.Spoilers()) > 0 {
		SetSpoilers(&c, nil)
	}
	if c.Shadow != nil {
		enforced := Single(c.Shadow.Enforced)
		c.Shadow = &ShadowData{Enforced: &enforced}
	}
	return c
}

// Unwatched returns d without the watches of the call and, where it has ended, without
// what it spoils.
func Unwatched(d *NetData, call *Flight, ended bool) *NetData {
	if !d.Waits(call) && (d.Shadow == nil || !d.Shadow.Enforced.Waits(call)) {
		return d
	}
	other := func(f Flight) bool { return !f.Is(call) }
	c := *d
	c.Watches = Keep(d.Watches, other)
	if ended && len(d.Spoilers()) > 0 {
		SetSpoilers(&c, Keep(d.Spoilers(), other))
	}
	if d.Shadow != nil {
		shadow := *d.Shadow
		shadow.Enforced = Unwatched(shadow.Enforced, call, ended)
		c.Shadow = &shadow
	}
	Prune(&c, &c)
	return &c
}

// Prune drops the lapsed watches that the net at large does not have any more. The
// state d is not shared yet.
func Prune(d, base *NetData) {
	if len(d.Lapsed()) > 0 {
		SetLapsed(d, Keep(d.Lapsed(), func(w Flight) bool { return slices.Contains(base.Watches, w) }))
	}
	if d.Shadow != nil && len(d.Shadow.Enforced.Lapsed()) > 0 {
		enforced := *d.Shadow.Enforced
		Prune(&enforced, base.Shadow.Enforced)
		shadow := *d.Shadow
		shadow.Enforced = &enforced
		d.Shadow = &shadow
	}
}

// Keep returns a new slice of the flights that are ok.
func Keep(flights []Flight, ok func(Flight) bool) []Flight {
	var kept []Flight
	for _, f := range flights {
		if ok(f) {
			kept = append(kept, f)
		}
	}
	return kept
}

// Like reports whether the state d for a value is that of the net at large, and
// nothing is in flight, watched or spent.
func Like(d, base *NetData) bool {
	return d.Stuck == base.Stuck && d.Spent == nil && d.Debt() == nil && len(d.Flights)+len(d.Watches)+len(d.Spoilers())+len(d.Meta) == 0 &&
		slices.Equal(d.Marking, base.Marking) && slices.Equal(d.Lapsed(), base.Lapsed()) && d.Clock.like(base.Clock) &&
		(d.Shadow == nil || Like(d.Shadow.Enforced, base.Shadow.Enforced))
}
