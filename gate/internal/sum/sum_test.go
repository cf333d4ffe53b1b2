package sum_test

import (
	"math/big"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate/internal/sum"
	"github.com/petrigate/petrigate/gate/toolnet"
)

const day = 24 * time.Hour

// rat parses a number. It returns nil if the text is empty.
func rat(t *testing.T, text string) *big.Rat {
	t.Helper()
	if text == "" {
		return nil
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatal(text)
	}
	return r
}

// limit returns the limit of "limit transfer to 1000 of amount per every".
func limit(every time.Duration) sum.Limit {
	return sum.Limit{Sum: &toolnet.Sum{Field: toolnet.Field{Path: "amount"}, Most: 1000, Every: every}}
}

func TestAdd(t *testing.T) {
	each := limit(day)
	each.Each = true
	for _, c := range []struct {
		limit        sum.Limit
		spent, args  string
		want, reason string // one of the two is empty
		retry        time.Duration
	}{
		{limit: limit(0), args: `{"amount":1000}`, want: "1000"},
		{limit: limit(0), spent: "999.5", args: `{"amount":0.5}`, want: "1/2"},
		{limit: limit(0), args: `{"amount":0}`, want: "0"},
		{limit: limit(0), args: `{"amount":-1}`, reason: "transfer needs one number of 0 or more as its amount, because the sum is limited."},
		{limit: limit(0), spent: "1/3", args: `{"amount":1000}`, reason: "transfer has 999.66 left of 1000 per session, but this call needs 1000."},
		{limit: limit(day), args: `{"amount":1000.001}`, reason: "transfer can spend at most 1000 per day, but this call needs 1000.001."},
		{limit: limit(day), spent: "750", args: `{"amount":500}`, reason: "transfer has 250 left of 1000 per day, but this call needs 500; try again in 6h.", retry: 6 * time.Hour},
		{limit: limit(time.Second), spent: "1000", args: `{"amount":0.0000001}`, reason: "transfer has 0 left of 1000 per second, but this call needs 0.01; try again in 1ms.", retry: 1},
		{limit: each, spent: "900", args: `{"amount":125}`, reason: "transfer has 100 left of 1000 per day for {key}, but this call needs 125; try again in 36m.", retry: 36 * time.Minute},
	} {
		got, reason, retry := c.limit.Add("transfer", &toolnet.Call{Args: []byte(c.args)}, rat(t, c.spent))
		want := rat(t, c.want)
		if (got == nil) != (want == nil) || got != nil && got.Cmp(want) != 0 || reason != c.reason || retry != c.retry {
			t.Errorf("%s after %s: %v %s %v, want %v %s %v", c.args, c.spent, got, reason, retry, want, c.reason, c.retry)
		}
	}
}

func TestWords(t *testing.T) {
	for _, c := range []struct {
		scope toolnet.Scope
		every time.Duration
		want  string
	}{
		{toolnet.ScopeSession, 0, "1000 per session"}, {toolnet.ScopeSession, time.Hour, "1000 per hour"}, {toolnet.ScopeSession, 90 * time.Minute, "1000 per 1h30m"},
		{toolnet.ScopePrincipal, 0, "1000 per user"}, {toolnet.ScopePrincipal, day, "1000 per user per day"}, {toolnet.ScopeGlobal, 0, "1000"}, {toolnet.ScopeGlobal, time.Second, "1000 per second"},
	} {
		l := limit(c.every)
		l.Scope, l.Each = c.scope, true
		if got := l.String(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
		if got := l.Spending(rat(t, "1/3")); got != "0.34 of "+c.want {
			t.Error(got)
		}
		if got := l.Spending(nil); got != "0 of "+c.want {
			t.Error(got)
		}
	}
}

func TestAfter(t *testing.T) {
	l := limit(day)
	for _, c := range []struct {
		spent  string
		passed time.Duration
		want   string // empty if nothing is spent
	}{
		{"500", 0, "500"}, {"500", 6 * time.Hour, "250"}, {"500", 12*time.Hour - 1, "1/86400000000"}, {"500", 12 * time.Hour, ""}, {"500", 20 * time.Hour, ""},
	} {
		spent := rat(t, c.spent)
		got, want := l.After(spent, c.passed), rat(t, c.want)
		if (got == nil) != (want == nil) || got != nil && got.Cmp(want) != 0 || spent.Cmp(rat(t, c.spent)) != 0 {
			t.Errorf("%s after %v: %v, want %v", c.spent, c.passed, got, want)
		}
	}
}

func TestDecimals(t *testing.T) {
	for _, c := range []struct{ number, up, down string }{
		{"0", "0", "0"}, {"100", "100", "100"}, {"1/2", "0.50", "0.50"}, {"1/8", "0.125", "0.125"}, {"1/1000000", "0.000001", "0.000001"},
		{"1/10000000", "0.01", "0.00"}, {"2/3", "0.67", "0.66"}, {"5/3", "1.67", "1.66"},
	} {
		r := rat(t, c.number)
		if got := limit(0).Spending(r); got != c.up+" of 1000 per session" {
			t.Errorf("%s: %s, want %s", c.number, got, c.up)
		}
		spent := new(big.Rat).Sub(big.NewRat(1000, 1), r)
		_, reason, _ := limit(0).Add("x", &toolnet.Call{Args: []byte(`{"amount":1000}`)}, spent)
		if want := "x has " + c.down + " left of 1000 per session, but this call needs 1000."; reason != want && spent.Sign() != 0 {
			t.Errorf("%s\nwant %s", reason, want)
		}
	}
}
