package gate

import (
	"math/big"
	"time"
)

// special contains the parts of a finding that only few nets have.
type special struct {
	spoils []choice // transitions that spoil evidence, see [Transition.Spoils]
	reason string   // reason for blocking other than the marking; may be empty
	retry  time.Duration
	phase  *Phase   // the phase that blocks the call
	amount *big.Rat // amount that the call adds to the sum of the net
	missed uint64   // bit set of the watches of the plan that do not count for the value
}

// makeSpecial returns the special part of the finding for changes.
func (f *finding) makeSpecial() *special {
	if f.special == nil {
		f.special = &special{}
	}
	return f.special
}

// spoils returns the transitions that spoil evidence.
func (f *finding) spoils() []choice {
	if f.special == nil {
		return nil
	}
	return f.special.spoils
}

// objection returns the reason for blocking other than the marking, or "".
func (f *finding) objection() string {
	if f.special == nil {
		return ""
	}
	return f.special.reason
}

// missed returns the watches of the plan that do not count for the value.
func (f *finding) missed() uint64 {
	if f.special == nil {
		return 0
	}
	return f.special.missed
}
