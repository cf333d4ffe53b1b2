package gate_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/soak"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// window returns a limit of n calls to x, with one token refunded per period.
func window(n int, every time.Duration) gate.Net {
	def := ruleNet("limit-x", gate.CauseLimit, fmt.Sprintf("x has reached its limit of %d calls.", n), map[string]int{"budget": n, "spent": 0},
		gate.Transition{Name: "do-x", Inputs: []string{"ready", "budget"}, Outputs: []string{"ready", "spent"}, Tools: gate.Tools("x")},
		gate.Transition{Name: "refill", Inputs: []string{"ready", "spent"}, Outputs: []string{"ready", "budget"}, Every: every})
	return def
}

func callAt(text string, t time.Time) gate.Call {
	c := call(text)
	c.Time = t
	return c
}

// clockPlay is a script: "x@20s" calls x, "x@20s!" is refused, with "=10s" as the retry time, and
// "@30s" checks the state. Times count from noon.
func clockPlay(t *testing.T, p *player, script string) {
	t.Helper()
	for _, step := range strings.Fields(script) {
		what, after, _ := strings.Cut(step, "@")
		after, retry, refused := strings.Cut(after, "!")
		d, err := time.ParseDuration(after)
		if err != nil {
			t.Fatal(err)
		}
		switch c := callAt(what, noon.Add(d)); {
		case what == "":
			p.Tick(c.Time)
		case refused:
			r, ok := p.Decide(c, nil).(*gate.Refusal)
			if !ok {
				t.Fatalf("%s: allowed\n%s", step, p.Status())
			}
			want, _ := time.ParseDuration(strings.TrimPrefix(retry, "="))
			if r.Retry != want || r.Retry != 0 && !strings.Contains(r.Text, "; the next call is possible in ") {
				t.Errorf("%s: retry in %s (%s)", step, r.Retry, r.Text)
			}
		default:
			p.allowCall(c, nil)
		}
	}
}

func TestClock(t *testing.T) {
	hand := func(initial map[string]int, ts ...string) gate.Net { return handNet("n", initial, ts...) }
	one := map[string]int{"a": 1}
	for _, c := range []struct {
		name   string
		net    gate.Net
		script string
		want   string
	}{
		{"a full bucket accrues nothing", window(2, time.Minute), "x@0s x@10m x@10m x@10m!=1m", "ready:1, spent:2"},
		{"one by one", window(2, time.Minute), "x@0s x@0s x@59s!=1s x@60s x@61s!=59s x@120s", "ready:1, spent:2"},
		{"the rest of the time counts", window(3, time.Minute), "x@0s x@0s x@0s @90s x@90s x@100s!=20s @120s", "ready:1, budget:1, spent:2"},
		{"it starts when it is enabled", window(2, time.Minute), "@0s x@30s @89s x@89s x@89s!=1s", "ready:1, spent:2"},
		{"backwards", window(1, time.Minute), "x@60s x@30s!=1m30s @0s x@119s!=1s x@120s", "ready:1, spent:1"},
		{"a long time", window(1<<31-1, time.Microsecond), "x@0s x@0s @2000000h", "ready:1, budget:2147483647"},
		{"a rule with a large debt", hand(map[string]int{"idle": 1, "spent": 1<<31 - 1}, "start: idle -> ready", "refill: ready spent -> ready budget [1us]"), "@0s @1000s", "ready:1, spent:1147483647, budget:1000000000"},
		{"a large debt", hand(map[string]int{"a": 1<<31 - 1}, "t: a -> b [1us]"), "@0s @1000s", "a:1147483647, b:1000000000"},
		{"several at once", hand(one, "t: b b -> a a a [1s]", "u: a -> b b | x"), "x@0s @1s x@1s x@1s @2s", "b:2, a:4"},
		{"a weight", hand(one, "u: a a a -> a a a | x", "t: c -> c a [1s]", "s: a -> c | y"), "y@0s x@0s!=3s x@1s!=2s x@3s", "a:3, c:1"},
		{"it goes round", hand(one, "t: a -> b [1s]", "u: b -> a [2s]"), "@0s @1000000h @1000000h1s", "b:1"},
		{"it goes round with a structural one", hand(one, "t: a -> b [1s]", "u: b -> a"), "@0s @1000000h", "a:1"},
		{"one waits for the other", hand(one, "t: a -> b [1s]", "u: b -> c [2s]", "v: c -> c | x"), "@0s x@0s!=3s x@2s!=1s x@3s", "c:1"},
		{"in order of time", hand(one, "slow: a -> b [3s]", "fast: a -> c [2s]"), "@0s @9s", "c:1"},
		{"in order of the net", hand(one, "first: a -> b [2s]", "second: a -> c [2s]"), "@0s @9s", "b:1"},
		{"structural after it", hand(one, "t: a -> b [1s]", "u: b -> c"), "@0s @1s", "c:1"},
		{"two that do not meet", hand(map[string]int{"a": 3, "b": 3}, "t: a -> c [1s]", "u: b -> d [2s]"), "@0s @2s", "a:1, c:2, b:2, d:1"},
		{"tokens in flight do not tick", hand(one, "t: a -> b [1s]", "u: a -> c [deferred] | x"), "x@0s @9s", "a:1 (1 in flight)"},
		{"too many to play", hand(map[string]int{"a": 5000, "z": 1}, "t: a -> b [1s]", "u: b -> c", "v: z -> z | x"), "x@0s x@2000s! x@2000s", "a:3000, c:2000, z:1"},
		{"no call, no time", window(1, time.Minute), "x@0s", "ready:1, spent:1"},
		{"far away", hand(map[string]int{"z": 1}, "t: z -> z a [1s]", "v: a*1000 -> | x"), "x@0s!", "z:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.net.AllowUnbounded = true
			for i := range c.net.Transitions { // a*1000 means a, a thousand times
				tr := &c.net.Transitions[i]
				if len(tr.Inputs) == 1 && tr.Inputs[0] == "a*1000" {
					tr.Inputs = strings.Fields(strings.Repeat("a ", 1000))
				}
			}
			p := play(t, gate.PolicyOptions{}, c.net)
			clockPlay(t, p, c.script)
			if got := strings.Split(strings.TrimSpace(p.Nets()[0].Marking.String()), "\n")[0]; got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// TestTokensByTheClockAreBounded checks that the clock stops producing tokens at maxTokens.
func TestTokensByTheClockAreBounded(t *testing.T) {
	n := handNet("n", map[string]int{"a": 1}, "t: a -> a b [1us]", "u: b -> b | x")
	n.AllowUnbounded = true
	p := play(t, gate.PolicyOptions{}, n)
	clockPlay(t, p, "@0s @1000000h @2000000h")
	if got := p.Nets()[0].Marking.String(); got != "a:1, b:2147483647" {
		t.Error(got)
	}
}

// TestOutcomesAndTheClock checks that an outcome at an unknown time never makes a clock tick
// earlier than an outcome at a known time.
func TestOutcomesAndTheClock(t *testing.T) {
	n := handNet("n", map[string]int{"budget": 2}, "do: budget -> spent [deferred] | x", "refill: spent -> budget [1m]")
	for _, c := range []struct {
		name  string
		ended time.Duration // -1: unknown
		look  time.Duration
		want  string
	}{
		{"known", 30 * time.Second, 90 * time.Second, "budget:2"},
		{"too early to see", 30 * time.Second, 89 * time.Second, "budget:1, spent:1"},
		{"unknown", -1, 89 * time.Second, "budget:1, spent:1"},
		{"unknown starts with the look", -1, 10 * time.Minute, "budget:1, spent:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := play(t, gate.PolicyOptions{}, n)
			ticket := p.allowCall(callAt("x", noon), nil).Ticket
			if c.ended < 0 {
				ticket.Settle(gate.Success)
			} else {
				ticket.SettleAt(gate.Success, noon.Add(c.ended))
			}
			p.Tick(noon.Add(c.look))
			p.marking(c.want)
			p.Tick(noon.Add(c.look + time.Minute))
			p.marking("budget:2")
		})
	}
	p := play(t, gate.PolicyOptions{}, n)
	first, second := p.allowCall(callAt("x", noon), nil).Ticket, p.allowCall(callAt("x", noon), nil).Ticket
	first.SettleAt(gate.Success, noon)
	second.Settle(gate.Success) // at an unknown time: the first token might have been back long ago
	p.Tick(noon.Add(10 * time.Minute))
	p.marking("spent:2")
}

// TestACallWithoutATime checks that a call without a time moves no clock and makes none tick early.
func TestACallWithoutATime(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, window(2, time.Minute))
	clockPlay(t, p, "x@0s")
	p.allow("x")
	if r := p.refuse("x", gate.KindBlocked, "limit-x"); r.Retry != 0 || strings.Contains(r.Text, "next") {
		t.Error(r.Text)
	}
	clockPlay(t, p, "x@30s!=1m x@89s!=1s x@90s")
}

func TestAnInactiveNetHasNoClock(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, handNet("n", map[string]int{"budget": 1}, "do: budget -> spent [deferred] | x", "refill: spent -> budget [1m]"))
	ticket := p.allowCall(callAt("x", noon), nil).Ticket
	if err := p.Deactivate("n"); err != nil {
		t.Fatal(err)
	}
	ticket.SettleAt(gate.Success, noon)
	p.Tick(noon.Add(time.Hour))
	p.marking("spent:1")
	if err := p.Activate("n"); err != nil {
		t.Fatal(err)
	}
	clockPlay(t, p, "x@2h!=1m x@2h1m")
}

func TestASessionStartsItsClocks(t *testing.T) {
	policy, err := gate.NewPolicy([]gate.Net{handNet("n", map[string]int{"cold": 1}, "heat: cold -> warm [10s]", "x: warm -> warm | x")}, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	clockPlay(t, &player{t, gate.NewSession(policy, gate.SessionOptions{Time: noon})}, "x@9s!=1s x@10s")
	clockPlay(t, &player{t, gate.NewSession(policy, gate.SessionOptions{})}, "x@9s!=10s x@19s")
}

// TestRetryOfSeveralNets checks that the retry time is that of the last net, and 0 if the clock
// does not unblock one of them.
func TestRetryOfSeveralNets(t *testing.T) {
	slow := handNet("slow", map[string]int{"a": 1}, "x: a -> b | x", "t: b -> a [1h30m]")
	p := play(t, gate.PolicyOptions{}, window(1, time.Minute), slow)
	clockPlay(t, p, "x@0s x@10s!=1h29m50s")
	r := p.Decide(callAt("x", noon.Add(20*time.Second)), nil).(*gate.Refusal)
	if want := "x has reached its limit of 1 calls; the next call is possible in 40s. Tool 'x' is not available in the current state; the next call is possible in 1h29m40s."; r.Text != want {
		t.Error(r.Text)
	}
	p = play(t, gate.PolicyOptions{}, window(1, time.Minute), limitNet("x", 1, "session"))
	clockPlay(t, p, "x@0s x@10s!")
}

func TestRetryIsRoundedUp(t *testing.T) {
	for _, c := range []struct {
		every time.Duration
		want  string
	}{{time.Microsecond, "1ms"}, {1500 * time.Millisecond, "2s"}, {time.Minute, "1m"}, {time.Hour, "1h"}, {time.Hour + time.Second, "1h0m1s"}, {70 * time.Second, "1m10s"}} {
		p := play(t, gate.PolicyOptions{}, window(1, c.every))
		p.allowCall(callAt("x", noon), nil)
		if r := p.Decide(callAt("x", noon), nil).(*gate.Refusal); !strings.HasSuffix(r.Text, "in "+c.want+".") {
			t.Error(r.Text)
		}
	}
}

// A watch ends if the clock takes its tokens, and otherwise continues.
func TestTheClockEndsAWatch(t *testing.T) {
	for want, clock := range map[string]string{"done:1": "t: b -> c [1s]", "c:1": "t: a -> c [1s]"} {
		n := handNet("n", map[string]int{"a": 1}, clock, "see: a -> done [deferred] [observe] | x")
		p := play(t, gate.PolicyOptions{}, n)
		ticket := p.allowCall(callAt("x", noon), nil).Ticket
		ticket.SettleAt(gate.Success, noon.Add(time.Second))
		p.Tick(noon.Add(time.Second))
		p.marking(want)
	}
}

// A net that does not come to rest blocks until the clock brings it to rest.
func TestTheClockAndANetThatIsStuck(t *testing.T) {
	n := restless("")
	n.Transitions[0].Tools, n.Transitions[0].Every = nil, time.Second
	n.Transitions = append(n.Transitions, tr("halt: c -> e [3s]"), tr("x: z -> z | x"))
	n.Places, n.Initial["z"] = append(n.Places, "e", "z"), 1
	p := play(t, gate.PolicyOptions{}, n)
	clockPlay(t, p, "x@0s x@2s!=1s x@3s")
	p.marking("b:20001, e:1, z:1")
}

// TestLazyClock checks that it makes no difference how often Tick is called.
func TestLazyClock(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range soak.Count(300) {
		n := randomClockNet(random)
		policy, err := gate.NewPolicy([]gate.Net{n}, gate.PolicyOptions{})
		if err != nil {
			continue
		}
		often, seldom := gate.NewSession(policy, gate.SessionOptions{Time: noon}), gate.NewSession(policy, gate.SessionOptions{Time: noon})
		at := time.Duration(0)
		for range 6 {
			gap := time.Duration(1+random.IntN(200)) * time.Second
			for step := time.Duration(0); step <= gap; step += time.Second / 2 {
				often.Tick(noon.Add(at + step))
			}
			at += gap
			c := callAt(string(rune('x'+random.IntN(2))), noon.Add(at))
			a, aok := often.Decide(c, nil).(*gate.Allow)
			b, bok := seldom.Decide(c, nil).(*gate.Allow)
			often.Tick(c.Time)
			seldom.Tick(c.Time)
			if aok != bok || often.Status() != seldom.Status() {
				t.Fatalf("%+v\nat %s: %v %v\n%s%s", n, at, aok, bok, often.Status(), seldom.Status())
			}
			if aok && random.IntN(2) == 0 {
				a.Ticket.SettleAt(gate.Success, c.Time)
				b.Ticket.SettleAt(gate.Success, c.Time)
			}
		}
	}
}

func randomClockNet(random *rand.Rand) gate.Net {
	places := []string{"p", "q", "r"}
	some := func(most int) string {
		var out []string
		for range random.IntN(most + 1) {
			out = append(out, places[random.IntN(3)])
		}
		return strings.Join(out, " ")
	}
	ts := []string{}
	for i := range 2 + random.IntN(4) {
		text := fmt.Sprintf("t%d: %s -> %s ", i, some(2), some(2))
		switch random.IntN(4) {
		case 0:
			text += "| x"
		case 1:
			text += "[deferred] | y"
		case 2:
			text += fmt.Sprintf("[%ds]", 1+random.IntN(9))
		}
		ts = append(ts, text)
	}
	n := handNet("n", map[string]int{"p": random.IntN(4), "q": random.IntN(4), "r": random.IntN(3)}, ts...)
	n.AllowUnbounded = true
	return n
}
