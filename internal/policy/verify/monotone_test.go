package verify_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/soak"
	"github.com/petrigate/petrigate/rules"
)

// TestOneMoreRule checks in the gate that rules are monotonic. If a rule is added, a refused call
// is still not admitted, and a call that required approval still requires it. An added shadow rule
// changes nothing. The test plays both policies side by side, at random.
func TestOneMoreRule(t *testing.T) {
	from, count := soak.Range(t, 120)
	stats := map[string]int{}
	for seed := from; seed < from+uint64(count) && !t.Failed(); seed++ {
		oneMoreRule(t, seed, stats)
	}
	t.Log(stats)
	if stats["admitted"] == 0 || stats["refused"] == 0 {
		t.Error("nothing was compared")
	}
}

func oneMoreRule(t *testing.T, seed uint64, stats map[string]int) {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 99))}
	w := g.wide(true)
	if g.IntN(3) == 0 {
		w.rules += fmt.Sprintf("limit %s to %d per %s\n", g.pick("a", "m", "n", "*", "b"), 1+g.IntN(3), g.pick("minute", "second", "hour"))
	}
	lines := strings.Split(strings.TrimSpace(w.rules), "\n")
	drop := g.IntN(len(lines))
	if strings.HasPrefix(lines[drop], "map ") {
		return // an additional name does not restrict
	}
	without, ok := policyOf(strings.Join(slices.Delete(slices.Clone(lines), drop, drop+1), "\n"))
	with, both := policyOf(w.rules)
	if !ok || !both {
		return
	}
	p := pair{without: gate.NewSession(without, gate.SessionOptions{}), with: gate.NewSession(with, gate.SessionOptions{}), shadow: strings.HasPrefix(lines[drop], "shadow ")}
	now := time.Unix(1e9, 0)
	for range 14 {
		now = now.Add(time.Duration(g.IntN(2)*g.IntN(40)) * time.Second)
		c := g.wideCall(w)
		c.Time = now
		verdict, wrong := p.play(c, gate.Outcome(g.IntN(3)))
		stats[verdict]++
		if wrong {
			t.Errorf("seed %d: %s %s with and without %q\n%s", seed, c.Tool, c.Args, lines[drop], w.rules)
			return
		}
	}
}

func policyOf(src string) (*gate.Policy, bool) {
	f, _ := rules.Parse("policy.rules", []byte(src))
	c, err := rules.Compile(f)
	if err != nil {
		return nil, false
	}
	p, err := gate.NewPolicy(c.Nets, gate.PolicyOptions{})
	return p, err == nil
}

// A pair holds two sessions whose policies differ by one rule.
type pair struct {
	without, with *gate.Session
	shadow        bool // the rule is in shadow
}

// play lets both sessions decide a call and makes it in both if both admit it. A call that only the
// smaller policy admits is not made, because the states could legitimately differ afterwards.
func (p pair) play(c gate.Call, o gate.Outcome) (verdict string, wrong bool) {
	with, asked := decided(p.with, c)
	if with == nil && !p.shadow {
		return "refused", false
	}
	without, before := decided(p.without, c)
	if (with == nil) != (without == nil) || before && !asked || p.shadow && before != asked {
		return "wrong", true
	}
	if with == nil {
		return "refused", false
	}
	with.Settle(o)
	without.Settle(o)
	return "admitted", false
}

// decided returns the ticket of an admitted call. It grants approvals.
func decided(s *gate.Session, c gate.Call) (ticket *gate.Ticket, asked bool) {
	d := s.Decide(c, nil)
	if a, ok := d.(*gate.Ask); ok {
		d, asked = s.Decide(c, a.Grant()), true
	}
	if a, ok := d.(*gate.Allow); ok {
		ticket = a.Ticket
	}
	return ticket, asked
}
