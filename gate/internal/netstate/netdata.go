package netstate

import (
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate/toolnet"
)

// NetData is the state of one net. It is immutable.
type NetData struct {
	Active  bool
	Stuck   bool  // the structural transitions do not come to rest
	Marking []int // available tokens by place, without those in flight
	Flights []Flight
	Watches []Flight
	Meta    toolnet.Meta
	Shadow  *ShadowData // for a net in shadow mode, whose other fields are the actual state; nil for other nets
	Spent   *Spent      // for a net with a sum; nil: nothing spent
	Clock   *Clock      // nil: no timed transitions, or no known time yet
	Extras  *Extras     // state that few nets have; nil: empty

	// In a net with a key, this NetData is the default state: the state for every value without an
	// entry in Values. Its watches are those whose value is in the result, and its spoilers are
	// those that spoil all values.
	Values *Values
}

// A Flight is a transition that waits for the end of a call.
type Flight struct {
	Owner      uint64 // session of the call, see the owners of the state
	Call       uint64
	Transition int       // index of the transition
	Name       string    // name of the call
	Since      time.Time // time of the call
}

// SameCall reports whether f and g belong to the same call.
func (f *Flight) SameCall(g *Flight) bool { return f.Owner == g.Owner && f.Call == g.Call }

// ShadowData is the additional state of a net in shadow mode. It is immutable.
type ShadowData struct {
	Enforced *NetData // state of the net if the nets in shadow mode had blocked, assuming that people always approve
	Refused  int      // number of calls that the net would have refused
	Asked    int      // number of calls that would have needed approval
}

// Deciding returns the state that determines the decisions of the net.
func (d *NetData) Deciding() *NetData {
	if d.Shadow != nil {
		return d.Shadow.Enforced
	}
	return d
}

// Waits reports whether the net waits for the end of the call.
func (d *NetData) Waits(call *Flight) bool {
	its := func(f Flight) bool { return f.SameCall(call) }
	return slices.ContainsFunc(d.Flights, its) || slices.ContainsFunc(d.Watches, its) || slices.ContainsFunc(d.Spoilers(), its)
}

// HasNegative reports whether some place has a negative number of tokens.
func HasNegative(d *NetData) bool {
	return slices.ContainsFunc(d.Marking, func(tokens int) bool { return tokens < 0 })
}

// Switched returns d with the net switched on or off.
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

// ForNewValue returns the initial state for a value without an entry.
func ForNewValue(d *NetData) NetData {
	c := *d
	c.Values, c.Watches = nil, nil
	if len(c.Spoilers()) > 0 {
		SetSpoilers(&c, nil)
	}
	if c.Shadow != nil {
		enforced := ForNewValue(c.Shadow.Enforced)
		c.Shadow = &ShadowData{Enforced: &enforced}
	}
	return c
}

// Unwatched returns d without the watches of the call and, if the call has ended, without its
// spoiling.
func Unwatched(d *NetData, call *Flight, ended bool) *NetData {
	if !d.Waits(call) && (d.Shadow == nil || !d.Shadow.Enforced.Waits(call)) {
		return d
	}
	other := func(f Flight) bool { return !f.SameCall(call) }
	c := *d
	c.Watches = Filter(d.Watches, other)
	if ended && len(d.Spoilers()) > 0 {
		SetSpoilers(&c, Filter(d.Spoilers(), other))
	}
	if d.Shadow != nil {
		shadow := *d.Shadow
		shadow.Enforced = Unwatched(shadow.Enforced, call, ended)
		c.Shadow = &shadow
	}
	Prune(&c, &c)
	return &c
}

// Prune drops the lapsed watches that the default state base no longer has. d must not be shared
// yet.
func Prune(d, base *NetData) {
	if len(d.Lapsed()) > 0 {
		SetLapsed(d, Filter(d.Lapsed(), func(w Flight) bool { return slices.Contains(base.Watches, w) }))
	}
	if d.Shadow != nil && len(d.Shadow.Enforced.Lapsed()) > 0 {
		enforced := *d.Shadow.Enforced
		Prune(&enforced, base.Shadow.Enforced)
		shadow := *d.Shadow
		shadow.Enforced = &enforced
		d.Shadow = &shadow
	}
}

// Filter returns a new slice of the flights that ok accepts.
func Filter(flights []Flight, ok func(Flight) bool) []Flight {
	var kept []Flight
	for _, f := range flights {
		if ok(f) {
			kept = append(kept, f)
		}
	}
	return kept
}

// EqualsDefault reports whether the state d for a value equals the default state base, with nothing in
// flight, watched or spent.
func EqualsDefault(d, base *NetData) bool {
	return d.Stuck == base.Stuck && d.Spent == nil && d.Debt() == nil && len(d.Flights)+len(d.Watches)+len(d.Spoilers())+len(d.Meta) == 0 &&
		slices.Equal(d.Marking, base.Marking) && slices.Equal(d.Lapsed(), base.Lapsed()) && d.Clock.equalTicks(base.Clock) &&
		(d.Shadow == nil || EqualsDefault(d.Shadow.Enforced, base.Shadow.Enforced))
}
