// Package sum implements limits on sums. It computes the amount that a call adds, the amount left,
// and refunds over time, and describes them in sentences. It has no state.
package sum

import (
	"fmt"
	"math/big"
	"strconv"
	"time"

	"github.com/petrigate/petrigate/gate/internal/argument"
	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/text"
)

// A Limit is a net's limit on a sum. Methods that take the amount spent so far interpret nil as
// zero.
type Limit struct {
	*toolnet.Sum
	Scope toolnet.Scope
	Each  bool // set if each key value has its own limit; descriptions then contain {key}
}

// Add returns the amount that a call with the given name spends. spent is the amount spent so far.
// If the limit does not allow the call, amount is nil, and reason is a sentence that explains the
// refusal. retry is how long to wait until the limit allows the call, or 0 if waiting does not
// help.
func (l Limit) Add(name string, c *toolnet.Call, spent *big.Rat) (amount *big.Rat, reason string, retry time.Duration) {
	amount, _, ok := argument.Amount(&l.Field, c)
	if !ok {
		return nil, fmt.Sprintf("%s needs one number of 0 or more as its %s, because the sum is limited.", name, l.Field.Name()), 0
	}
	if left := l.remaining(spent); left.Cmp(amount) < 0 {
		reason, retry = l.exceeded(name, left, amount)
		return nil, reason, retry
	}
	return amount, "", 0
}

// remaining returns the amount that can still be spent.
func (l Limit) remaining(spent *big.Rat) *big.Rat {
	left := l.most()
	if spent != nil {
		left.Sub(left, spent)
	}
	return left
}

func (l Limit) most() *big.Rat { return new(big.Rat).SetInt64(int64(l.Most)) }

// exceeded explains why a call with the given name cannot spend the amount. retry is how long to
// wait until it can, or 0 if waiting does not help.
func (l Limit) exceeded(name string, left, amount *big.Rat) (reason string, retry time.Duration) {
	if amount.Cmp(l.most()) > 0 {
		return fmt.Sprintf("%s can spend at most %s, but this call needs %s.", name, l.perKeyValue(), decimal(amount, true)), 0
	}
	reason = fmt.Sprintf("%s has %s left of %s, but this call needs %s", name, decimal(left, false), l.perKeyValue(), decimal(amount, true))
	if l.Every == 0 {
		return reason + ".", 0
	}
	wait := new(big.Rat).Sub(amount, left)
	wait.Mul(wait, new(big.Rat).SetFrac64(int64(l.Every), int64(l.Most)))
	retry = time.Duration(ceil(wait).Int64())
	return fmt.Sprintf("%s; try again in %s.", reason, text.RoundedUp(retry)), retry
}

// perKeyValue returns a description of the limit, such as "1000 per user per day". If each key
// value has its own limit, the description ends with "for {key}".
func (l Limit) perKeyValue() string {
	if l.Each {
		return l.String() + " for {key}"
	}
	return l.String()
}

// String describes the maximum of the sum, as in "1000 per user per day".
func (l Limit) String() string {
	per := [...]string{" per session", " per user", ""}[l.Scope]
	if l.Every > 0 {
		if l.Scope == toolnet.ScopeSession {
			per = ""
		}
		per += " per " + text.Period(l.Every)
	}
	return strconv.Itoa(l.Most) + per
}

// After returns the amount that still counts as spent after the given time has passed.
func (l Limit) After(spent *big.Rat, passed time.Duration) *big.Rat {
	back := new(big.Rat).SetFrac64(int64(passed), int64(l.Every))
	back.Mul(back, l.most())
	if back.Sub(spent, back).Sign() <= 0 {
		return nil
	}
	return back
}

// Spending describes the amount spent, as in "120.50 of 1000 per user per day".
func (l Limit) Spending(spent *big.Rat) string {
	if spent == nil {
		spent = new(big.Rat)
	}
	return decimal(spent, true) + " of " + l.String()
}

// decimal formats a nonnegative number as an integer or with two to six decimal places. A number
// with more places is rounded to two places: up if up is true, and down otherwise.
func decimal(r *big.Rat, up bool) string {
	places, exact := r.FloatPrec()
	switch {
	case places == 0 && exact:
		return r.FloatString(0)
	case exact && places <= 6:
		return r.FloatString(max(places, 2))
	}
	scaled := new(big.Rat).Mul(r, big.NewRat(100, 1))
	whole := ceil(scaled)
	if !up {
		whole = new(big.Int).Quo(scaled.Num(), scaled.Denom())
	}
	return new(big.Rat).SetFrac(whole, big.NewInt(100)).FloatString(2)
}

// ceil returns the smallest integer that is not less than r. r must not be negative.
func ceil(r *big.Rat) *big.Int {
	whole, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	return whole
}
