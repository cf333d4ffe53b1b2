package gate

import (
	"math/big"
	"time"
)

// special is what only findings about few nets have.
type special struct {
	spoils []choice // transitions that spoil evidence, see [Transition.Spoils]
	reason string   // why it is blocked, if not by the marking alone
	retry  time.Duration
	phase  *Phase   // the one that blocks it
	amount *big.Rat // that the call adds to the sum of the net
	missed uint64   // the watches of the plan that do not count for the value
}

// makeSpecial returns the special part of the finding, for changes.
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

// objection returns why the net blocks the call, if not by the marking alone, or "".
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
