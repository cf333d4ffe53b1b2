package netstate

import (
	"math/big"
	"time"
)

// Apart is the part of the state of a net that only nets with spoilers, a row or a key
// have. It is replaced and never changed.
type Apart struct {
	// Spoilers are calls under way that spoil evidence: while there is one, no watch
	// begins.
	Spoilers []Flight

	// Lapsed, of the state for a value, are watches of the net at large that do not
	// count for it.
	Lapsed []Flight

	Row string // of a net with [toolnet.Net].Row: tells the call that it counted last; empty: none

	Debt *Debt // nil: none
}

// A Debt is what calls have used up of a limit beyond what there is of it, because there
// was more of it under another policy. It counts where there is more again, and what a
// call gives back pays it first. It is replaced and never changed.
type Debt struct {
	Amount *big.Rat  // calls, or a sum; more than 0
	Until  time.Time // then the clock has brought all of it back; zero: no clock does, or the time is not known
}

// Debt returns what is owed, see [Apart].
func (d *NetData) Debt() *Debt {
	if d.Apart == nil {
		return nil
	}
	return d.Apart.Debt
}

// Spoilers returns the calls under way that spoil evidence, see [Apart].
func (d *NetData) Spoilers() []Flight {
	if d.Apart == nil {
		return nil
	}
	return d.Apart.Spoilers
}

// Lapsed returns the watches of the net at large that do not count for the value of d,
// see [Apart].
func (d *NetData) Lapsed() []Flight {
	if d.Apart == nil {
		return nil
	}
	return d.Apart.Lapsed
}

// Row tells the call that a net with [toolnet.Net].Row counted last, see [Apart].
func (d *NetData) Row() string {
	if d.Apart == nil {
		return ""
	}
	return d.Apart.Row
}

// SetSpoilers replaces the calls that spoil evidence; d must not be shared yet.
func SetSpoilers(d *NetData, flights []Flight) {
	d.setApart(func(a *Apart) { a.Spoilers = flights })
}

// SetLapsed replaces the watches that do not count; d must not be shared yet.
func SetLapsed(d *NetData, flights []Flight) {
	d.setApart(func(a *Apart) { a.Lapsed = flights })
}

// SetRow replaces the call that was counted last; d must not be shared yet.
func SetRow(d *NetData, row string) {
	d.setApart(func(a *Apart) { a.Row = row })
}

// SetDebt replaces the debt; d must not be shared yet.
func SetDebt(d *NetData, debt *Debt) {
	d.setApart(func(a *Apart) { a.Debt = debt })
}

// setApart changes what is apart, and keeps it if there is anything in it.
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
