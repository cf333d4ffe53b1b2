// Package netstate represents a net's state as plain data: tokens, calls in flight, clocks and
// spent sums, and the same data for each key value. It copies and compares states; package gate
// interprets the states and fires the transitions. Package netstate itself has no mutable state.
package netstate

import (
	"math/big"
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate/internal/trie"
	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/list"
)

// NetData is the state of a net. It is immutable.
type NetData struct {
	Active  bool
	Stuck   bool  // whether an update of the net was given up because too many clock firings were due, or because structural transitions, which fire by themselves, kept firing
	Marking []int // available tokens by place, excluding those in flight
	Flights []Flight
	Watches []Flight
	Meta    toolnet.Meta
	Shadow  *ShadowData // additional state of a net in shadow mode, or nil; the other fields hold the actual state
	Spent   *Spent      // amount spent, for a net with a sum; nil if nothing was spent
	Clock   *Clock      // nil if the net has no timed transitions, or if no time is known yet
	Extras  *Extras     // state that only a few nets have; nil if empty

	// Values holds the states for the key values of a net with a key. The enclosing NetData is then
	// the default state, which applies to every key value without an entry in Values. In the
	// default state, Watches lists the observers that will read their key value from a call's
	// result, and the calls in Extras.Spoilers affect all key values.
	Values *Values
}

// ShadowData is the additional state of a net in shadow mode. It is immutable.
type ShadowData struct {
	Enforced *NetData // state that would have resulted if the nets in shadow mode had blocked calls and people had always approved
	Refused  int      // number of calls that the net would have refused
	Asked    int      // number of calls that would have required approval
}

// Values holds a net's states for its key values, except those that equal the default state; see
// [NetData]. It is immutable. A nil *Values is empty.
type Values struct {
	states trie.Trie[storedState]
	pool   trie.Trie[storedState] // plain states (see isPlain) keyed by their encoding, so that identical states share memory
}

// storedState is the stored form of a state. It separates the clock and the spent amount, so that
// states that differ only in these can share the rest.
type storedState struct {
	data  *NetData
	clock *Clock
	spent *compactSpent
}

// WithEnforced returns a copy of s with the given enforced state.
func WithEnforced(s *ShadowData, enforced *NetData) *ShadowData {
	c := *s
	c.Enforced = enforced
	return &c
}

// Deciding returns the state used for decisions: in shadow mode, the enforced state (see
// [ShadowData]); otherwise, d.
func (d *NetData) Deciding() *NetData {
	if d.Shadow != nil {
		return d.Shadow.Enforced
	}
	return d
}

// Waits reports whether the net waits for the call to end.
func (d *NetData) Waits(call *Flight) bool {
	its := func(f Flight) bool { return f.SameCall(call) }
	return slices.ContainsFunc(d.Flights, its) || slices.ContainsFunc(d.Watches, its) || d.Extras != nil && slices.ContainsFunc(d.Extras.Spoilers, its)
}

// HasNegative reports whether any place has a negative number of tokens, in the actual or the
// enforced state; see [ShadowData].
func HasNegative(d *NetData) bool {
	return slices.ContainsFunc(d.Marking, func(tokens int) bool { return tokens < 0 }) || d.Shadow != nil && HasNegative(d.Shadow.Enforced)
}

// ForNewValue returns the initial state for a key value that has no state yet. It is a copy of the
// default state d (see [NetData]) without Values, Watches and Spoilers.
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

// Unwatched returns d without the observers that wait for the call. If ended is true, Unwatched
// also removes the call from the list Spoilers, so that it no longer prevents other calls from
// meeting requirements; see [Extras].
func Unwatched(d *NetData, call *Flight, ended bool) *NetData {
	if !d.Waits(call) && (d.Shadow == nil || !d.Shadow.Enforced.Waits(call)) {
		return d
	}
	other := func(f Flight) bool { return !f.SameCall(call) }
	c := *d
	c.Watches = list.Filter(d.Watches, other)
	if ended && len(d.Spoilers()) > 0 {
		SetSpoilers(&c, list.Filter(d.Spoilers(), other))
	}
	if d.Shadow != nil {
		c.Shadow = WithEnforced(d.Shadow, Unwatched(d.Shadow.Enforced, call, ended))
	}
	Prune(&c, &c)
	return &c
}

// Prune removes observers from d's list Lapsed if they no longer wait in base, the default state;
// see [Extras]. d must not be shared yet.
func Prune(d, base *NetData) {
	if len(d.Lapsed()) > 0 {
		SetLapsed(d, list.Filter(d.Lapsed(), func(w Flight) bool { return slices.Contains(base.Watches, w) }))
	}
	if d.Shadow != nil && len(d.Shadow.Enforced.Lapsed()) > 0 {
		enforced := *d.Shadow.Enforced
		Prune(&enforced, base.Shadow.Enforced)
		d.Shadow = WithEnforced(d.Shadow, &enforced)
	}
}

// EqualsDefault reports whether the state d for a key value need not be stored, because it equals
// base, the default state. A state with calls in flight, waiting observers or an amount spent never
// equals the default state.
func EqualsDefault(d, base *NetData) bool {
	return d.Stuck == base.Stuck && d.Spent == nil && d.Debt() == nil && len(d.Flights)+len(d.Watches)+len(d.Spoilers())+len(d.Meta) == 0 &&
		slices.Equal(d.Marking, base.Marking) && slices.Equal(d.Lapsed(), base.Lapsed()) && d.Clock.equalTicks(base.Clock) &&
		(d.Shadow == nil || EqualsDefault(d.Shadow.Enforced, base.Shadow.Enforced))
}

// extras returns d's extras for reading. They are empty if d has none.
func (d *NetData) extras() *Extras {
	if d.Extras == nil {
		return &noExtras
	}
	return d.Extras
}

// noExtras is shared by all states without extras. It must not be modified.
var noExtras Extras

// Debt returns the debt, or nil if the net has no debt; see [Extras].
func (d *NetData) Debt() *Debt { return d.extras().Debt }

// Spoilers returns the calls in flight that prevent other calls from meeting requirements; see
// [Extras].
func (d *NetData) Spoilers() []Flight { return d.extras().Spoilers }

// Lapsed returns the waiting observers that must not fire when their calls succeed; see [Extras].
func (d *NetData) Lapsed() []Flight { return d.extras().Lapsed }

// Row returns the fingerprint of the last call counted by a net that counts consecutive identical
// calls; see [Extras].
func (d *NetData) Row() string { return d.extras().Row }

// SetSpoilers sets the list of calls in flight that prevent other calls from meeting requirements;
// see [toolnet.Transition.Spoils]. d must not be shared yet.
func SetSpoilers(d *NetData, flights []Flight) {
	d.setExtras(func(a *Extras) { a.Spoilers = flights })
}

// SetLapsed sets the list of waiting observers that must not fire when their calls succeed; see
// [Extras]. d must not be shared yet.
func SetLapsed(d *NetData, flights []Flight) {
	d.setExtras(func(a *Extras) { a.Lapsed = flights })
}

// SetRow sets the fingerprint of the last counted call. d must not be shared yet.
func SetRow(d *NetData, row string) {
	d.setExtras(func(a *Extras) { a.Row = row })
}

// SetDebt sets the debt. d must not be shared yet.
func SetDebt(d *NetData, debt *Debt) {
	d.setExtras(func(a *Extras) { a.Debt = debt })
}

// setExtras replaces d.Extras with a changed copy, or with nil if the copy is empty.
func (d *NetData) setExtras(change func(*Extras)) {
	a := *d.extras()
	d.Extras = nil
	if change(&a); len(a.Spoilers)+len(a.Lapsed) > 0 || a.Row != "" || a.Debt != nil {
		own := a
		d.Extras = &own
	}
}

// Extras are the parts of a state that only some nets have: nets with [toolnet.Transition.Spoils]
// or [toolnet.Net.Row], nets with a key, and limits with a [Debt]. They are immutable.
type Extras struct {
	// Spoilers are the calls in flight that prevent other calls from meeting requirements; see
	// [toolnet.Transition.Spoils]. While they are in flight, no observer starts to wait for a call.
	// The success of a call that is admitted during this time therefore does not count.
	Spoilers []Flight

	// Lapsed lists observers that wait in the default state (see [NetData]) but must not fire when
	// their calls succeed, for example because they were disabled in the meantime. A list in the
	// state for a key value applies only to that value. A list in the default state applies to all
	// values without a state of their own.
	Lapsed []Flight

	Row string // identifies the last call counted by a net with [toolnet.Net].Row; empty if no call was counted

	Debt *Debt // nil if the net has no debt
}

// A Debt is usage in excess of a limit's maximum. It arises when a new policy lowers the limit. A
// refund by a call reduces the debt. The clock does not reduce the debt gradually. Instead, the
// whole debt expires at the time Until. If the limit is raised again, the remaining debt still
// counts as usage. A Debt is immutable.
type Debt struct {
	Amount *big.Rat  // number of excess calls or, for a limit on a sum, the excess amount; always positive
	Until  time.Time // when the debt expires; zero if the net has no clock or the time is unknown
}

// A Flight is a transition that waits for its call to end.
type Flight struct {
	Owner      uint64 // identifies the call's session among those that share the net; 0 if the net is not shared
	Call       uint64
	Transition int       // index of the transition
	Name       string    // the name or pattern that makes the transition apply to the call
	Since      time.Time // when the call was made
}

// SameCall reports whether f and g belong to the same call.
func (f *Flight) SameCall(g *Flight) bool { return f.Owner == g.Owner && f.Call == g.Call }
