package netstate

import (
	"math/big"
	"time"
)

// Spent is what the calls of a net with a sum have spent. It is replaced and never
// changed.
type Spent struct {
	Amount *big.Rat  // more than 0
	Time   time.Time // until then, what comes back is taken off; zero: the time is not known
}

// spending is a [Spent] of which both numbers of the fraction are small.
type spending struct {
	num, denom int64
	time       time.Time
}

// small returns s in little space, if that is possible; of nothing, nothing.
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

// large returns s as what it was.
func (s *spending) large() *Spent {
	return &Spent{Amount: big.NewRat(s.num, s.denom), Time: s.time}
}
