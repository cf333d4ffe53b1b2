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

// spending is a compact [Spent] whose numerator and denominator fit into 64 bits.
type spending struct {
	num, denom int64
	time       time.Time
}

// small returns the compact form of s; ok is false if s does not fit. A nil s has a nil form.
func (s *Spent) small() (*spending, bool) {
	if s == nil {
		return nil, true
	}
	num, denom := s.Amount.Num(), s.Amount.Denom()
	if !num.IsInt64() || !denom.IsInt64() {
		return nil, false
	}
	return &spending{num: num.Int64(), denom: denom.Int64(), time: s.Time}, true
}

// large reverses small.
func (s *spending) large() *Spent {
	return &Spent{Amount: big.NewRat(s.num, s.denom), Time: s.time}
}
