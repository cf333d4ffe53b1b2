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
