package gate

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate/internal/argument"
	"github.com/petrigate/petrigate/internal/text"
)

// Spent is what the calls of a net with a [Sum] have spent. It is replaced and never
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

// spend blocks a call with which the sum of the net would be too large, or whose part
// of it cannot be told.
func (f *finding) spend(c *Call) {
	if f.kind != Gated || !f.forbids() {
		return
	}
	name := f.spokenName(c)
	amount, ok := argument.Amount(&f.net.Sum.Field, c)
	if !ok {
		f.object(fmt.Sprintf("%s needs one number, which is not negative, as its %s: the sum of it is limited.", name, f.net.Sum.Field.Name()), 0)
		return
	}
	left := left(f.net.Sum, f.data)
	if left.Cmp(amount) < 0 {
		reason, retry := f.net.exceeds(name, left, amount)
		f.object(reason, retry)
		return
	}
	f.makeSpecial().amount = amount
}

// forbids reports whether a transition that is no observer was chosen.
func (f *finding) forbids() bool {
	for _, c := range f.choices {
		if !f.net.Transitions[c.transition].Observe {
			return true
		}
	}
	return false
}

// spokenName returns the name of the call for a sentence.
func (f *finding) spokenName(c *Call) string {
	for i := range f.labels {
		if l := &f.labels[i]; l.Text == f.choices[0].name && l.Glob == 0 {
			return l.Text
		}
	}
	return c.Tool
}

// exceeds returns the reason why a call with this name cannot spend the amount, and
// when it can.
func (n *net) exceeds(name string, left, amount *big.Rat) (reason string, retry time.Duration) {
	most := new(big.Rat).SetInt64(int64(n.Sum.Most))
	if amount.Cmp(most) > 0 {
		return fmt.Sprintf("%s can spend at most %s, and this call needs %s.", name, n.limit(), argument.Decimal(amount, true)), 0
	}
	reason = fmt.Sprintf("%s has %s left of %s, and this call needs %s", name, argument.Decimal(left, false), n.limit(), argument.Decimal(amount, true))
	if n.Sum.Every == 0 {
		return reason + ".", 0
	}
	wait := new(big.Rat).Sub(amount, left)
	wait.Mul(wait, new(big.Rat).SetFrac64(int64(n.Sum.Every), int64(n.Sum.Most)))
	retry = time.Duration(argument.Ceil(wait).Int64())
	return fmt.Sprintf("%s; that is possible in %s.", reason, text.RoundedUp(retry)), retry
}

// limit describes the largest sum: "1000 per user per day".
func (n *net) limit() string {
	per := [...]string{" per session", " per user", ""}[n.Scope]
	if every := n.Sum.Every; every > 0 {
		if n.Scope == ScopeSession {
			per = ""
		}
		per += " per " + text.Period(every)
	}
	if len(n.keys) > 0 {
		per += " for {key}"
	}
	return strconv.Itoa(n.Sum.Most) + per
}

// left returns how much can be spent.
func left(s *Sum, d *NetData) *big.Rat {
	left := new(big.Rat).SetInt64(int64(s.Most))
	if d.Spent != nil {
		left.Sub(left, d.Spent.Amount)
	}
	return left
}

// spend adds the amount to what is spent.
func (m *move) spend(amount *big.Rat, t time.Time) {
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

// regained returns d at the time t, with what has come back taken off, or d itself if
// that is nothing. Where the time of a spending is not known, its clock begins now.
func (n *net) regained(d *NetData, t time.Time) *NetData {
	if n.Sum == nil || n.Sum.Every == 0 || d.Spent == nil || !t.After(d.Spent.Time) {
		return d
	}
	c := *d
	c.Spent = &Spent{Amount: d.Spent.Amount, Time: t}
	if d.Spent.Time.IsZero() {
		return &c
	}
	back := new(big.Rat).SetFrac64(int64(t.Sub(d.Spent.Time)), int64(n.Sum.Every))
	back.Mul(back, new(big.Rat).SetInt64(int64(n.Sum.Most)))
	c.Spent.Amount = back.Sub(d.Spent.Amount, back)
	if back.Sign() <= 0 {
		c.Spent = nil
	}
	return &c
}

// spending describes what is spent of the sum; empty: the net has no sum.
func (n *net) spending(d *NetData) string {
	if n.Sum == nil {
		return ""
	}
	spent := new(big.Rat)
	if d.Spent != nil {
		spent = d.Spent.Amount
	}
	return argument.Decimal(spent, true) + " of " + strings.TrimSuffix(n.limit(), " for {key}")
}
