// Package sum reckons with limited sums: what a call adds to one, what is left, what comes
// back with time, and how that is said. It is pure.
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

// A Limit is the limit that a net sets to a sum. What is spent of it is nil where that is
// nothing.
type Limit struct {
	*toolnet.Sum
	Scope toolnet.Scope
	Each  bool // it is that for each value of a key: its reasons have a {key}
}

// Add returns what a call with this name adds to what is spent. It is nil if the call has
// no amount, or too much of it: then there is a reason, and perhaps a time after which it
// is possible.
func (l Limit) Add(name string, c *toolnet.Call, spent *big.Rat) (amount *big.Rat, reason string, retry time.Duration) {
	amount, ok := argument.Amount(&l.Field, c)
	if !ok {
		return nil, fmt.Sprintf("%s needs one number, which is not negative, as its %s: the sum of it is limited.", name, l.Field.Name()), 0
	}
	if left := l.left(spent); left.Cmp(amount) < 0 {
		reason, retry = l.exceeded(name, left, amount)
		return nil, reason, retry
	}
	return amount, "", 0
}

// left returns how much can be spent.
func (l Limit) left(spent *big.Rat) *big.Rat {
	left := l.most()
	if spent != nil {
		left.Sub(left, spent)
	}
	return left
}

func (l Limit) most() *big.Rat { return new(big.Rat).SetInt64(int64(l.Most)) }

// exceeded returns the reason why a call with this name cannot spend the amount, and
// when it can.
func (l Limit) exceeded(name string, left, amount *big.Rat) (reason string, retry time.Duration) {
	if amount.Cmp(l.most()) > 0 {
		return fmt.Sprintf("%s can spend at most %s, and this call needs %s.", name, l.each(), decimal(amount, true)), 0
	}
	reason = fmt.Sprintf("%s has %s left of %s, and this call needs %s", name, decimal(left, false), l.each(), decimal(amount, true))
	if l.Every == 0 {
		return reason + ".", 0
	}
	wait := new(big.Rat).Sub(amount, left)
	wait.Mul(wait, new(big.Rat).SetFrac64(int64(l.Every), int64(l.Most)))
	retry = time.Duration(ceil(wait).Int64())
	return fmt.Sprintf("%s; that is possible in %s.", reason, text.RoundedUp(retry)), retry
}

// each describes the largest sum, of a net with a key with the value: "1000 per user per
// day for {key}".
func (l Limit) each() string {
	if l.Each {
		return l.String() + " for {key}"
	}
	return l.String()
}

// String describes the largest sum: "1000 per user per day".
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

// After returns what is spent when that much time has passed, in which some of it has come
// back.
func (l Limit) After(spent *big.Rat, passed time.Duration) *big.Rat {
	back := new(big.Rat).SetFrac64(int64(passed), int64(l.Every))
	back.Mul(back, l.most())
	if back.Sub(spent, back).Sign() <= 0 {
		return nil
	}
	return back
}

// Spending describes what is spent: "120.50 of 1000 per user per day".
func (l Limit) Spending(spent *big.Rat) string {
	if spent == nil {
		spent = new(big.Rat)
	}
	return decimal(spent, true) + " of " + l.String()
}
