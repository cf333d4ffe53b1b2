package netstate

import (
	"math/big"
	"time"
)

// Spent is the amount that the calls of a net with a sum have spent. It is immutable.
type Spent struct {
	Amount *big.Rat  // positive
	Time   time.Time // refunds up to this time are already deducted; zero: unknown time
}

// compactSpent is a compact [Spent] whose numerator and denominator fit into 64 bits.
type compactSpent struct {
	num, denom int64
	time       time.Time
}

// compact returns the compact form of s; ok is false if s does not fit. A nil s has a nil form.
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
