package gate

import (
	"math/big"
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate/internal/netstate"
)

// usage returns the limit's usage at time t, excluding the tokens held by calls in flight.
func (n *net) usage(d *NetData, t time.Time) *big.Rat {
	used := new(big.Rat)
	if n.Sum == nil {
		used.SetInt64(int64(n.start[n.budget.place] - n.withInFlight(d)[n.budget.place]))
	} else if d.Spent != nil {
		used.Set(d.Spent.Amount)
	}
	if debt := d.Debt(); debt != nil && !paidOff(debt, t) {
		used.Add(used, debt.Amount)
	}
	return used
}

// paidOff reports whether the debt, the usage beyond a limit's maximum, has expired by time t.
func paidOff(debt *Debt, t time.Time) bool { return !debt.Until.IsZero() && !t.Before(debt.Until) }

// charge returns a copy of d, the state of a limit. In the copy, the usage at time t is the given
// usage plus that of the calls in flight. Usage beyond the maximum becomes a debt. The clock for
// refunds starts at t. If t is zero, the clock starts as soon as the time is known, and the debt
// does not expire.
func (n *net) charge(d *NetData, used *big.Rat, t time.Time) *NetData {
	c := *d
	c.Stuck, c.Marking, c.Spent, c.Clock = false, n.start, nil, nil
	most, held, all := n.maxUsage(), new(big.Rat), time.Duration(0)
	if n.Sum == nil {
		held.SetInt64(int64(len(d.Flights)))
		for _, k := range n.timed {
			all = n.Transitions[k].Every * time.Duration(n.start[n.budget.place])
		}
	} else {
		all = n.Sum.Every
	}
	total := new(big.Rat).Add(used, held)
	var debt *Debt
	if total.Cmp(most) > 0 {
		debt = &Debt{Amount: total.Sub(total, most)}
		if all > 0 && !t.IsZero() {
			debt.Until = t.Add(all)
		}
	}
	netstate.SetDebt(&c, debt)
	if n.Sum != nil {
		if spent := minRat(used, most); spent.Sign() > 0 {
			c.Spent = &Spent{Amount: spent, Time: t}
		}
		return &c
	}
	n.takeUsed(&c, used, t)
	return &c
}

func (n *net) maxUsage() *big.Rat {
	if n.Sum != nil {
		return new(big.Rat).SetInt64(int64(n.Sum.Most))
	}
	return new(big.Rat).SetInt64(int64(n.start[n.budget.place]))
}

func minRat(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

// takeUsed sets d's marking to the net's start marking minus the tokens that the given usage and
// the calls in flight consume. No token count becomes negative. takeUsed also starts the clock,
// unless the net is inactive or t is zero.
func (n *net) takeUsed(d *NetData, used *big.Rat, t time.Time) {
	spend, m := &n.net.Transitions[n.budget.spend], slices.Clone(n.start)
	for range d.Flights {
		if spend.Enabled(m) {
			spend.Take(m)
		}
	}
	calls, _ := minRat(used, n.maxUsage()).Float64()
	spend.FireTimes(m, min(int(calls), spend.MaxFirings(m, maxTokens)))
	d.Marking = m
	if len(n.timed) == 0 || t.IsZero() || !d.Active {
		return
	}
	d.Clock = netstate.CopyClock(nil, len(n.timed), t)
	for k, number := range n.timed {
		if n.net.Transitions[number].Enabled(m) {
			d.Clock.Since[k] = t
		}
	}
}
