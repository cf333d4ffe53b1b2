package gate

import (
	"math/big"
	"time"

	"github.com/petrigate/petrigate/gate/internal/sum"
)

// limit describes the limit on the net's sum. n.Sum must not be nil.
func (n *net) limit() sum.Limit {
	return sum.Limit{Sum: n.Sum, Scope: n.Scope, Each: len(n.keys) > 0}
}

// spentOf returns the spent amount, or nil if nothing was spent.
func spentOf(d *NetData) *big.Rat {
	if d.Spent == nil {
		return nil
	}
	return d.Spent.Amount
}

// refunded returns the state d at time t, after deducting refunds from the spent amount. It returns
// d itself if nothing changes. If d does not record when the amount was spent, refunds start at t.
func (n *net) refunded(d *NetData, t time.Time) *NetData {
	if n.Sum == nil || n.Sum.Every == 0 || d.Spent == nil || !t.After(d.Spent.Time) {
		return d
	}
	c := *d
	c.Spent = &Spent{Amount: d.Spent.Amount, Time: t}
	if d.Spent.Time.IsZero() {
		return &c
	}
	if c.Spent.Amount = n.limit().After(d.Spent.Amount, t.Sub(d.Spent.Time)); c.Spent.Amount == nil {
		c.Spent = nil
	}
	return &c
}

// spending describes how much of the net's sum has been spent. It returns "" if the net has no sum.
func (n *net) spending(d *NetData) string {
	if n.Sum == nil {
		return ""
	}
	return n.limit().Spending(spentOf(d))
}

// addSpent adds amount to the amount that the net has spent so far.
func (m *move) addSpent(amount *big.Rat, t time.Time) {
	if amount == nil || amount.Sign() == 0 {
		return
	}
	old := m.data.Spent
	m.data.Spent = &Spent{Amount: amount, Time: t}
	if old == nil {
		return
	}
	m.data.Spent.Amount = new(big.Rat).Add(old.Amount, amount)
	if !t.IsZero() && old.Time.After(t) {
		m.data.Spent.Time = old.Time
	}
}
