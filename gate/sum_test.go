package gate_test

import (
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/soak"
)

// sumNet is "limit transfer to most of amount per every".
func sumNet(most int, every time.Duration) gate.Net {
	n := ruleNet("sum", gate.CauseLimit, "", nil,
		gate.Transition{Name: "do-transfer", Inputs: []string{"ready"}, Outputs: []string{"ready"}, Tools: []gate.Tool{{Name: "transfer"}, {Name: "trans*", Kind: gate.Glob}}, Unless: gate.Tools("transfer.test")})
	n.Sum = &gate.Sum{Field: gate.Field{Path: "amount", Source: "amount"}, Most: most, Every: every}
	return n
}

const day = 24 * time.Hour

func TestSums(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, sumNet(1000, day))
	pay := func(args string, after time.Duration) gate.Call { return callAt("transfer "+args, noon.Add(after)) }
	p.allowCall(pay(`{"amount":879.50}`, 0), nil).Ticket.Settle(gate.Failure) // it might have been paid
	r := p.refuseCall(pay(`{"amount":3e2}`, 0), nil, gate.KindBlocked, "sum")
	if want := "transfer has 120.50 left of 1000 per day, but this call needs 300; try again in 4h18m29s."; r.Text != want {
		t.Errorf("%s\nwant %s", r.Text, want)
	}
	if r.Retry.Round(time.Second) != 4*time.Hour+18*time.Minute+29*time.Second || r.Blocks[0].Name != "transfer" {
		t.Errorf("%v %+v", r.Retry, r.Blocks)
	}
	retry := r.Retry
	p.Tick(noon.Add(retry - 1))
	p.refuseCall(pay(`{"amount":300}`, retry-1), nil, gate.KindBlocked, "sum")
	p.allowCall(pay(`{"amount":300}`, retry), nil)
	if r := p.refuseCall(pay(`{"amount":1000.01}`, retry), nil, gate.KindBlocked, "sum"); r.Text != "transfer can spend at most 1000 per day, but this call needs 1000.01." || r.Retry != 0 {
		t.Error(r.Text)
	}
	p.allowCall(pay(`{"amount":0}`, retry), nil)
	p.allowCall(pay(`{"amount":-0.0}`, 0), nil)
	p.Tick(noon.Add(retry + 12*time.Hour))
	p.allowCall(pay(`{"amount":500}`, 0), nil) // a clock that goes backwards
	p.status("sum (active): ready:1; spent: 1000 of 1000 per day")
	retry += 12 * time.Hour
	p.Tick(noon.Add(retry + 8*time.Hour))
	p.status("sum (active): ready:1; spent: 666.67 of 1000 per day")
	if got := p.Nets()[0].Spent; got != "666.67 of 1000 per day" {
		t.Error(got)
	}
	p.Tick(noon.Add(retry + day))
	p.status("sum (active): ready:1; spent: 0 of 1000 per day")
}

func TestAmountsThatAreNone(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, sumNet(1000, 0))
	for _, args := range []string{
		``, `{}`, `{"amount":null}`, `{"amount":"300"}`, `{"amount":true}`, `{"amount":[300]}`, `{"amount":{"value":300}}`, `{"amount":-1}`, `{"amount":-1e-9}`,
		`{"amount":1,"Amount":2}`, `{"AMOUNT":1}`, `{"amount":1e101}`, `{"amount":1e-101}`, `{"amount":1e99999999999999999999}`, `{"amount":0.` + strings.Repeat("1", 100) + `}`,
	} {
		r := p.refuse("transfer "+args, gate.KindBlocked, "sum")
		if want := "transfer needs one number of 0 or more as its amount, because the sum is limited."; r.Text != want {
			t.Errorf("%s: %s", args, r.Text)
		}
	}
	p.status("sum (active): ready:1; spent: 0 of 1000 per session")
	p.allow(`transfer {"amount":1e-100}`)
	p.allow(`transfer {"amount":0.000001}`)
	p.status("sum (active): ready:1; spent: 0.01 of 1000 per session")
	if r := p.refuse(`transfer {"amount":1000}`, gate.KindBlocked, "sum"); r.Text != "transfer has 999.99 left of 1000 per session, but this call needs 1000." {
		t.Error(r.Text)
	}
}

// TestNamesAndSums checks that a call counts once however many names it has, and not at all if it
// is exempt or only observed.
func TestNamesAndSums(t *testing.T) {
	n := sumNet(10, 0)
	n.Transitions = append(n.Transitions, gate.Transition{Name: "see", Inputs: []string{"ready"}, Outputs: []string{"ready"}, Tools: gate.Tools("audit"), Observe: true})
	p := play(t, gate.PolicyOptions{}, n)
	p.allow(`transfer {"amount":6}`)
	p.allow(`transfer {"amount":6,"action":"test"}`)
	p.allow(`transplant {"amount":3}`)
	p.allow(`audit {"amount":6}`)
	p.status("sum (active): ready:1; spent: 9 of 10 per session")
	if r := p.refuse(`transplant {"amount":3}`, gate.KindBlocked, "sum"); !strings.HasPrefix(r.Text, "transplant has 1 left") {
		t.Error(r.Text)
	}
	if a := p.Session; a != nil {
		a.Offer([]gate.Call{{Tool: "transfer"}})
		if shown := a.Advertise(time.Time{}); len(shown.Hidden) > 0 {
			t.Errorf("an amount of 0 would pass: %+v", shown.Hidden)
		}
	}
	p.Reset()
	p.status("sum (active): ready:1; spent: 0 of 10 per session")
}

func TestFieldsOfSums(t *testing.T) {
	for _, c := range []struct {
		field gate.Field
		call  string
		pass  bool
	}{
		{gate.Field{Path: "$.order.total"}, `{"order":{"total":10}}`, true},
		{gate.Field{Path: "$.order.total"}, `{"order":{"total":10.5}}`, false},
		{gate.Field{Path: "$.order.total"}, `{"order":10}`, false},
		{gate.Field{Reader: total(1), Source: "size(args)"}, `{}`, true},
		{gate.Field{Reader: total(2)}, `{}`, false},
		{gate.Field{Reader: total(3)}, `{}`, false},
	} {
		n := sumNet(10, 0)
		n.Sum.Field = c.field
		p := play(t, gate.PolicyOptions{}, n)
		if _, ok := p.Decide(call("transfer "+c.call), nil).(*gate.Allow); ok != c.pass {
			t.Errorf("%+v of %s: %v", c.field, c.call, ok)
		}
	}
}

// total is an expression that has a value, has no value, or panics.
type total int

func (v total) Value(*gate.Call, int) ([]byte, bool) {
	switch v {
	case 1:
		return []byte("7"), true
	case 2:
		return nil, false
	default:
		panic("fails")
	}
}

func TestWordsOfSums(t *testing.T) {
	for _, c := range []struct {
		scope gate.Scope
		every time.Duration
		want  string
	}{
		{gate.ScopeSession, 0, "5 per session"}, {gate.ScopeSession, time.Hour, "5 per hour"}, {gate.ScopeSession, 90 * time.Minute, "5 per 1h30m"},
		{gate.ScopePrincipal, 0, "5 per user"}, {gate.ScopePrincipal, day, "5 per user per day"}, {gate.ScopeGlobal, 0, "5"}, {gate.ScopeGlobal, time.Second, "5 per second"},
	} {
		p := play(t, gate.PolicyOptions{}, scoped(c.scope, sumNet(5, c.every)))
		if r := p.refuse(`transfer {"amount":6}`, gate.KindBlocked, "sum"); !strings.Contains(r.Text, "at most "+c.want+", but") {
			t.Errorf("%s, want %s", r.Text, c.want)
		}
	}
}

// TestSumsWithoutTime checks that an amount spent at an unknown time is refunded late rather than
// early, also after the net was inactive, and in both worlds of shadow mode.
func TestSumsWithoutTime(t *testing.T) {
	for _, dark := range []bool{false, true} {
		n := sumNet(100, 100*time.Second)
		n.Shadow = dark
		p := play(t, gate.PolicyOptions{}, n)
		shows := func(want string) {
			t.Helper()
			if got := p.Nets()[0].Spent; got != want+" of 100 per 1m40s" {
				t.Errorf("%s, want %s", got, want)
			}
		}
		p.allow(`transfer {"amount":90}`)
		p.Tick(noon)
		shows("90")
		p.Tick(noon.Add(10 * time.Second))
		shows("80")
		p.allow(`transfer {"amount":10}`)
		p.Tick(noon.Add(20 * time.Second))
		shows("90")
		p.Tick(noon.Add(30 * time.Second))
		shows("80")
		if err := p.Deactivate("sum"); err != nil {
			t.Fatal(err)
		}
		p.Tick(noon.Add(40 * time.Second))
		if err := p.Activate("sum"); err != nil {
			t.Fatal(err)
		}
		p.Tick(noon.Add(50 * time.Second))
		shows("80")
		p.Tick(noon.Add(60 * time.Second))
		shows("70")
		if dark {
			p.wouldCall(callAt(`transfer {"amount":40}`, noon.Add(60*time.Second)))
			shows("70")
		}
	}
}

// TestSumsAddUp compares sums with integers in hundredths, and checks that a call passes exactly at
// the refusal's retry time, and not a nanosecond earlier.
func TestSumsAddUp(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	for range soak.Count(200) {
		most := 1 + random.IntN(50)
		p := play(t, gate.PolicyOptions{}, sumNet(most, 0))
		spent := 0
		for range 30 {
			cents := random.IntN(1000)
			c := call(`transfer {"amount":` + big.NewRat(int64(cents), 100).FloatString(random.IntN(3)+2) + `}`)
			_, ok := p.Decide(c, nil).(*gate.Allow)
			if want := spent+cents <= 100*most; ok != want {
				t.Fatalf("%s after %d of %d: %v", c.Args, spent, most, ok)
			}
			if ok {
				spent += cents
			}
		}
		timed := play(t, gate.PolicyOptions{}, sumNet(most, time.Duration(1+random.IntN(1e9))*time.Microsecond))
		now := noon
		for range 10 {
			c := callAt(`transfer {"amount":`+strconv.Itoa(random.IntN(most+1))+`}`, now)
			r, refused := timed.Decide(c, nil).(*gate.Refusal)
			if refused {
				c.Time = now.Add(r.Retry - 1)
				timed.Tick(c.Time)
				timed.refuseCall(c, nil, gate.KindBlocked, "sum")
				now = now.Add(r.Retry)
				c.Time = now
				timed.allowCall(c, nil)
			}
		}
	}
}

func TestSumsAreLost(t *testing.T) {
	s := newPolicy(t, sumNet(10, 0)).NewState(nil)
	pass(t, s, call(`transfer {"amount":6}`))
	other := sumNet(10, 0)
	other.Sum.Field.Path = "fee"
	if _, kept := newPolicy(t, other).Adopt(s, gate.AdoptOptions{}); !kept[0].Lost || kept[0].Fate != gate.Begun {
		t.Errorf("%+v", kept)
	}
	if _, kept := newPolicy(t, sumNet(10, 0)).Adopt(s, gate.AdoptOptions{}); kept[0].Fate != gate.Continued {
		t.Errorf("%+v", kept)
	}
}

// TestSumsForEach checks that a net with a key has a sum for each value, and that a call counts in
// full for each of its values.
func TestSumsForEach(t *testing.T) {
	n := sumNet(100, day)
	n.Key = []gate.Field{{Path: "to"}}
	p := play(t, gate.PolicyOptions{}, n)
	p.allowCall(callAt(`transfer {"to":"ann","amount":80}`, noon), nil)
	p.allowCall(callAt(`transfer {"to":"bob","amount":50}`, noon), nil)
	r := p.refuseCall(callAt(`transfer {"to":["bob","ann"],"amount":30}`, noon), nil, gate.KindBlocked, "sum")
	if want := "transfer has 20 left of 100 per day for ann, but this call needs 30; try again in 2h24m."; r.Text != want {
		t.Errorf("%s\nwant %s", r.Text, want)
	}
	p.refuse(`transfer {"to":"ann"}`, gate.KindBlocked, "sum")
	p.refuse(`transfer {"amount":1}`, gate.KindBlocked, "sum")
	p.allowCall(callAt(`transfer {"to":["bob","ann"],"amount":20}`, noon), nil)
	p.status("sum (active): ready:1; spent: 0 of 100 per day for each to; ann: ready:1; spent: 100 of 100 per day; bob: ready:1; spent: 70 of 100 per day")
	if got := p.Nets()[0].Values[1].Spent; got != "70 of 100 per day" {
		t.Error(got)
	}
	if err := p.Deactivate("sum"); err != nil {
		t.Fatal(err)
	}
	if err := p.Activate("sum"); err != nil {
		t.Fatal(err)
	}
	p.Tick(noon.Add(time.Hour))
	p.Tick(noon.Add(time.Hour + 18*time.Hour))
	p.status("sum (active): ready:1; spent: 0 of 100 per day for each to; ann: ready:1; spent: 25 of 100 per day")
	p.Tick(noon.Add(day + time.Hour))
	p.status("sum (active): ready:1; spent: 0 of 100 per day for each to")
	p.Offer([]gate.Call{{Tool: "transfer"}})
	if a := p.Advertise(noon); len(a.Hidden) > 0 {
		t.Errorf("%+v", a.Hidden)
	}
}

// TestSumsOfValues checks that the spent amount of each value is exact, whether it is stored
// compactly or not.
func TestSumsOfValues(t *testing.T) {
	n := sumNet(2, 0)
	n.Key = []gate.Field{{Path: "to"}}
	p := play(t, gate.PolicyOptions{}, n)
	p.allow(`transfer {"to":"a","amount":0.25}`)
	p.refuse(`transfer {"to":"a","amount":1.76}`, gate.KindBlocked, "sum")
	p.allow(`transfer {"to":"b","amount":1.75}`)
	p.allow(`transfer {"to":"b","amount":0.25}`)
	p.refuse(`transfer {"to":"b","amount":1e-30}`, gate.KindBlocked, "sum")
	p.allow(`transfer {"to":"a","amount":1e-30}`)
	p.refuse(`transfer {"to":"a","amount":1.75}`, gate.KindBlocked, "sum")
	p.allow(`transfer {"to":"a","amount":1.7499}`)
	p.refuse(`transfer {"to":"a","amount":0.0001}`, gate.KindBlocked, "sum")
}
