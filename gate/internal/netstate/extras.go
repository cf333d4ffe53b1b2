package netstate

import (
	"math/big"
	"time"
)

// Extras are the parts of a net's state that only nets with spoilers, a row or a key have. They are
// immutable.
type Extras struct {
	// Spoilers are calls in flight that spoil evidence: no watch begins while there are any.
	Spoilers []Flight

	// Lapsed, in the state for a value, are watches in the default state that do not count for the
	// value.
	Lapsed []Flight

	Row string // for a net with [toolnet.Net].Row: identifies the last counted call; empty: no call

	Debt *Debt // nil: no debt
}

// A Debt is the usage of a limit beyond its maximum, which can occur because the limit was higher
// under an earlier policy. It reduces a future increase of the limit, and refunds of calls pay it
// off first. It is immutable.
type Debt struct {
	Amount *big.Rat  // calls or a sum; positive
	Until  time.Time // time when the clock has paid off all of it; zero: no clock, or unknown
}

// Debt returns the debt, or nil; see [Extras].
func (d *NetData) Debt() *Debt {
	if d.Extras == nil {
		return nil
	}
	return d.Extras.Debt
}

// Spoilers returns the calls in flight that spoil evidence; see [Extras].
func (d *NetData) Spoilers() []Flight {
	if d.Extras == nil {
		return nil
	}
	return d.Extras.Spoilers
}

// Lapsed returns the watches in the default state that do not count for the value of d; see
// [Extras].
func (d *NetData) Lapsed() []Flight {
	if d.Extras == nil {
		return nil
	}
	return d.Extras.Lapsed
}

// Row returns the identification of the last call that a net with [toolnet.Net].Row counted; see
// [Extras].
func (d *NetData) Row() string {
	if d.Extras == nil {
		return ""
	}
	return d.Extras.Row
}

// SetSpoilers sets the calls that spoil evidence; d must not be shared yet.
func SetSpoilers(d *NetData, flights []Flight) {
	d.setExtras(func(a *Extras) { a.Spoilers = flights })
}

// SetLapsed sets the watches that do not count; d must not be shared yet.
func SetLapsed(d *NetData, flights []Flight) {
	d.setExtras(func(a *Extras) { a.Lapsed = flights })
}

// SetRow sets the last counted call; d must not be shared yet.
func SetRow(d *NetData, row string) {
	d.setExtras(func(a *Extras) { a.Row = row })
}

// SetDebt sets the debt; d must not be shared yet.
func SetDebt(d *NetData, debt *Debt) {
	d.setExtras(func(a *Extras) { a.Debt = debt })
}

// setExtras replaces d.Extras by a changed copy, or by nil if the copy is empty.
func (d *NetData) setExtras(change func(*Extras)) {
	var a Extras
	if d.Extras != nil {
		a = *d.Extras
	}
	d.Extras = nil
	if change(&a); len(a.Spoilers)+len(a.Lapsed) > 0 || a.Row != "" || a.Debt != nil {
		own := a
		d.Extras = &own
	}
}
