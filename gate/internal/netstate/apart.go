package netstate

import (
	"math/big"
	"time"
)

// Apart is the part of a net's state that only nets with spoilers, a row or a key have. It is
// immutable.
type Apart struct {
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

// Debt returns the debt, or nil; see [Apart].
func (d *NetData) Debt() *Debt {
	if d.Apart == nil {
		return nil
	}
	return d.Apart.Debt
}

// Spoilers returns the calls in flight that spoil evidence; see [Apart].
func (d *NetData) Spoilers() []Flight {
	if d.Apart == nil {
		return nil
	}
	return d.Apart.Spoilers
}

// Lapsed returns the watches in the default state that do not count for the value of d; see
// [Apart].
func (d *NetData) Lapsed() []Flight {
	if d.Apart == nil {
		return nil
	}
	return d.Apart.Lapsed
}

// Row returns the identification of the last call that a net with [toolnet.Net].Row counted; see
// [Apart].
func (d *NetData) Row() string {
	if d.Apart == nil {
		return ""
	}
	return d.Apart.Row
}

// SetSpoilers sets the calls that spoil evidence; d must not be shared yet.
func SetSpoilers(d *NetData, flights []Flight) {
	d.setApart(func(a *Apart) { a.Spoilers = flights })
}

// SetLapsed sets the watches that do not count; d must not be shared yet.
func SetLapsed(d *NetData, flights []Flight) {
	d.setApart(func(a *Apart) { a.Lapsed = flights })
}

// SetRow sets the last counted call; d must not be shared yet.
func SetRow(d *NetData, row string) {
	d.setApart(func(a *Apart) { a.Row = row })
}

// SetDebt sets the debt; d must not be shared yet.
func SetDebt(d *NetData, debt *Debt) {
	d.setApart(func(a *Apart) { a.Debt = debt })
}

// setApart replaces d.Apart by a changed copy, or by nil if the copy is empty.
func (d *NetData) setApart(change func(*Apart)) {
	var a Apart
	if d.Apart != nil {
		a = *d.Apart
	}
	d.Apart = nil
	if change(&a); len(a.Spoilers)+len(a.Lapsed) > 0 || a.Row != "" || a.Debt != nil {
		own := a
		d.Apart = &own
	}
}
