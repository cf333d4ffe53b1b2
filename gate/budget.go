package gate

import (
	"math/big"
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate/internal/netstate"
	"github.com/petrigate/petrigate/internal/petri"
)

// A budget is what a limit of rules lets be used up: tokens of a place, or a sum.
type budget struct {
	place int // -1: it is a sum
	spend int // the transition that uses it up
}

// findBudget finds the budget of a limit of rules; nil: the net is none.
func (n *net) findBudget() *budget {
	gates := func(t Transition) bool { return len(t.Tools) > 0 && !t.Observe }
	b := &budget{place: -1, spend: slices.IndexFunc(n.Transitions, gates)}
	if n.Cause != CauseLimit || n.Labels == nil || b.spend < 0 {
		return nil
	}
	for _, in := range n.net.Transitions[b.spend].In {
		if n.Sum == nil && in.Weight == 1 && n.initial[in.Place] > 0 {
			b.place = in.Place
			return b
		}
	}
	if n.Sum == nil {
		return nil
	}
	return b
}

// used returns what calls have used up of the limit by the time t, for good or until it
// comes back; calls under way that hold a token of it do not count.
func (n *net) used(d *NetData, t time.Time) *big.Rat {
	used := new(big.Rat)
	if n.Sum == nil {
		used.SetInt64(int64(n.start[n.budget.place] - n.displayed(d)[n.budget.place]))
	} else if d.Spent != nil {
		used.Set(d.Spent.Amount)
	}
	if debt := d.Debt(); debt != nil && !paid(debt, t) {
		used.Add(used, debt.Amount)
	}
	return used
}

// paid reports whether the clock has paid the debt by the time t.
func paid(debt *Debt, t time.Time) bool { return !debt.Until.IsZero() && !t.Before(debt.Until) }

// charge returns d as it is at the time t, if so much is used up of the limit, beside what
// the calls under way in d hold. Of what is there, nothing is left where that is too much.
// What the clock has to bring back, it brings back from t on; if t is zero, from the next
// time that is known.
func (n *net) charge(d *NetData, used *big.Rat, t time.Time) *NetData {
	c := *d
	c.Stuck, c.Marking, c.Spent, c.Clock = false, n.start, nil, nil
	most, held, all := n.most(), new(big.Rat), time.Duration(0)
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
		if spent := lesser(used, most); spent.Sign() > 0 {
			c.Spent = &Spent{Amount: spent, Time: t}
		}
		return &c
	}
	n.take(&c, used, t)
	return &c
}

// most returns the number of the limit.
func (n *net) most() *big.Rat {
	if n.Sum != nil {
		return new(big.Rat).SetInt64(int64(n.Sum.Most))
	}
	return new(big.Rat).SetInt64(int64(n.start[n.budget.place]))
}

func lesser(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

// take takes the tokens of the calls that are used up, and of those under way, as far as
// there are any, and starts the clock.
func (n *net) take(d *NetData, used *big.Rat, t time.Time) {
	spend, m := &n.net.Transitions[n.budget.spend], slices.Clone(n.start)
	for range d.Flights {
		if spend.Enabled(m) {
			spend.Take(m)
		}
	}
	calls, _ := lesser(used, n.most()).Float64()
	spend.FireTimes(m, min(int(calls), spend.Times(m, maxTokens)))
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

// repays reports whether what the transition gives back to the budget is owed, and takes
// it off the debt.
func (m *move) repays(transition int) bool {
	debt := m.data.Debt()
	if debt == nil || m.net.budget == nil || m.net.Sum != nil {
		return false
	}
	gives := slices.ContainsFunc(m.net.net.Transitions[transition].Out, func(a petri.Arc) bool { return a.Place == m.net.budget.place })
	if !gives {
		return false
	}
	var rest *Debt
	if left := new(big.Rat).Sub(debt.Amount, big.NewRat(1, 1)); left.Sign() > 0 {
		rest = &Debt{Amount: left, Until: debt.Until}
	}
	netstate.SetDebt(m.data, rest)
	return true
}

// Used returns what calls have used up, by the time t, of the limit with that number in
// the policy, in its state d or in that for a value of its key; nil if it is nothing, or
// the net is no limit of rules. With [Policy.Charge] another policy takes it over.
func (p *Policy) Used(net int, d *NetData, t time.Time) *big.Rat {
	n := p.nets[net]
	if n.budget == nil {
		return nil
	}
	if used := n.used(d, t); used.Sign() > 0 {
		return used
	}
	return nil
}

// Charge returns the state of the limit with that number in the policy, for one value if
// it has a key, in which so much is used up at the time t: of d only what is under way and
// what is no token is in it. There is nothing left where less is there than was used up, and
// what is beyond is remembered, see [Debt]. A net that is no limit of rules, and one of
// which nothing is used up or under way, is at its start.
func (p *Policy) Charge(net int, d *NetData, used *big.Rat, t time.Time) *NetData {
	n := p.nets[net]
	if n.budget == nil {
		return n.atStart(d.Active)
	}
	if used == nil {
		used = new(big.Rat)
	}
	return n.charge(d, used, t)
}
