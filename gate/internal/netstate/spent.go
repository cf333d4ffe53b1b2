package netstate

import (
	"math/big"
	"time"
)

// Spent is the amount that the calls of a net with a sum have spent. It is immutable.
type Spent struct {
	Amount *big.Rat  // always positive
	Time   time.Time // start of the interval for the next refund; zero if unknown
}

// compactSpent is the compact form of a [Spent]. The numerator and the denominator of the amount
// each fit in 64 bits.
type compactSpent struct {
	num, denom int64
	time       time.Time
}

// compact returns s in compact form. ok is false if s does not fit. If s is nil, so is the result.
func (s *Spent) compact() (*compactSpent, bool) {
	if s == nil {
		return nil, true
	}
	num, denom := s.Amount.Num(), s.Amount.Denom()
	if !num.IsInt64() || !denom.IsInt64() {
		return nil, false
	}
	return &compactSpent{num: num.Int64(), denom: denom.Int64(), time: s.Time}, true
}

// expand reverses compact.
func (s *compactSpent) expand() *Spent {
	return &Spent{Amount: big.NewRat(s.num, s.denom), Time: s.time}
}
