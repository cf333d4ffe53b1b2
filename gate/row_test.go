package gate_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// rowNet is "limit tool to n in a row".
func rowNet(tool string, n int) gate.Net {
	net := ruleNet("row", gate.CauseLimit, "Repeating it changes nothing.", map[string]int{"budget": n},
		gate.Transition{Name: "do", Inputs: []string{"ready", "budget"}, Outputs: []string{"ready"}, Tools: []gate.Tool{{Name: tool, Kind: gate.Glob}}, Unless: gate.Tools("poll")})
	net.Row = true
	return net
}

func TestRows(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, rowNet("*", 2), blockNet("rm"))
	p.allow(`read {"path":"a","n":1}`)
	p.allow(` read {"n":1.0,"path":"\u0061"}`[1:]) // the same call
	p.refuse(`read {"n":10e-1,"path":"a"}`, gate.KindBlocked, "row")
	p.refuse("rm", gate.KindBlocked, "block-rm") // changes nothing
	p.refuse(`read {"path":"a","n":1}`, gate.KindBlocked, "row")
	p.allow(`read {"path":"a","n":2}`)
	p.allow(`read {"path":"a","n":1}`)
	p.allow(`read {"path":"a","n":1}`)
	p.refuse(`read {"path":"a","n":1}`, gate.KindBlocked, "row")
	p.allow("poll") // not counted, but a different call
	p.allow(`read {"path":"a","n":1}`)
	p.status("row (active): ready:1, budget:1", "block-rm (active): ready:1")
	p.allow("poll")
	p.allow("poll")
	p.allow("poll")
	p.status("row (active): ready:1, budget:2", "block-rm (active): ready:1")
}

// TestRowsOfOtherCalls checks that a call that the net does not list ends a row, too.
func TestRowsOfOtherCalls(t *testing.T) {
	p := play(t, gate.PolicyOptions{Deny: false}, rowNet("read", 1))
	p.allow("read")
	p.refuse("read {}", gate.KindBlocked, "row")
	other := p.allow("write")
	if len(other.Nets) > 0 {
		t.Errorf("%+v", other.Nets)
	}
	p.allow("read")
	up := call("read")
	up.Upstream = "another"
	p.allowCall(up, nil)
	p.Offer([]gate.Call{{Tool: "read", Upstream: "another"}, {Tool: "write"}})
	if a := p.Advertise(time.Time{}); len(a.Hidden) > 0 {
		t.Errorf("other arguments would pass: %+v", a.Hidden)
	}
}

func TestRowsInShadow(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, shadow(rowNet("read", 1)), shadow(blockNet("write")))
	p.script("read", "read -> blocked row", "read -> blocked row", "other", "read", "write -> blocked block-write", "read -> blocked row")
	p.status("row (active, shadow): ready:1; enforced: ready:1", "block-write (active, shadow): ready:1; enforced: ready:1")
	p.script("other")
	p.status("row (active, shadow): ready:1, budget:1; enforced: ready:1, budget:1", "block-write (active, shadow): ready:1; enforced: ready:1")
}

func TestRowsReplayed(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, rowNet("read", 1), handNet("row2", nil))
	p.Replay([]gate.Entry{{Call: call("read"), Outcome: gate.Success}, {Call: call("other"), Outcome: gate.Success}})
	p.allow("read")
	if err := p.Deactivate("row"); err != nil {
		t.Fatal(err)
	}
	p.allow("other") // the net is inactive and keeps its state
	if err := p.Activate("row"); err != nil {
		t.Fatal(err)
	}
	p.refuse("read", gate.KindBlocked, "row")
}

// TestEqualCalls compares the rows of random values: values that a JSON library considers equal
// make equal calls; other values do not.
func TestEqualCalls(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	equal := [][]string{
		{`0`, `-0`, `0.0`, `0e7`}, {`1`, `1.0`, `1e0`, `10E-1`, `0.1e1`, `0.10e+01`}, {`-1`, `-1.00`}, {`100`, `1e2`}, {`1e99999999999999999999`},
		{`"a"`, `"\u0061"`}, {`"\n"`, `"\u000a"`}, {`"é"`, `"\u00e9"`}, {`"1"`}, {`true`}, {`false`}, {`null`}, {`[]`}, {`{}`}, {`"true"`}, {`[1,2]`, `[ 1.0 ,2]`}, {`[2,1]`}, {`[[1],2]`}, {`[[1,2]]`},
		{`{"a":1,"b":2}`, `{"b":2,"a":1.0}`, ` { "b" : 2e0, "\u0061" : 1 } `}, {`{"a":2,"b":1}`}, {`{"a":{"b":1}}`}, {`{"a":1}`}, {`0.30000000000000000001`}, {`0.3`}, {`9007199254740993`}, {`9007199254740992`},
	}
	for range 1500 {
		i, j := random.IntN(len(equal)), random.IntN(len(equal))
		if random.IntN(2) == 0 {
			j = i
		}
		a, b := equal[i][random.IntN(len(equal[i]))], equal[j][random.IntN(len(equal[j]))]
		p := play(t, gate.PolicyOptions{}, rowNet("x", 1))
		p.allow(`x {"v":` + a + `}`)
		_, passes := p.Decide(call(`x {"v":`+b+`}`), nil).(*gate.Allow)
		if passes != (i != j) {
			t.Fatalf("%s and %s: equal %v", a, b, !passes)
		}
	}
	p := play(t, gate.PolicyOptions{}, rowNet("x", 1))
	p.allow("x not JSON")
	p.refuse("x not JSON", gate.KindBlocked, "row")
	p.allow("x not JSON either")
	p.allow("x " + strings.Repeat("[", 10))
}

// TestRowsIgnore checks that ignored arguments do not distinguish calls, for every name that a call
// certainly has.
func TestRowsIgnore(t *testing.T) {
	o := gate.PolicyOptions{Ignored: []gate.Ignored{{Tool: "run", Field: "note"}, {Tool: "s.run", Field: "ms", Usual: true}, {Tool: "sh", Field: "as"}}}
	policy, err := gate.NewPolicy([]gate.Net{rowNet("*", 2)}, o)
	if err != nil {
		t.Fatal(err)
	}
	of := gate.Call{Tool: "run", Also: []gate.Name{{Text: "s.run", Certain: true}, {Text: "sh", Weak: true}}}
	foreign := of
	foreign.Foreign = true
	for _, c := range []struct {
		call *gate.Call
		want string
	}{{&of, "[note ms]"}, {&foreign, "[ms]"}, {&gate.Call{Tool: "sh"}, "[as]"}, {&gate.Call{Tool: "x"}, "[]"}} {
		if got := fmt.Sprint(policy.Ignored(c.call)); got != c.want {
			t.Errorf("%+v: %s, want %s", c.call, got, c.want)
		}
	}
	p := play(t, o, rowNet("*", 2))
	p.allow(`run {"do":"a","note":"x"}`)
	p.allow(`run {"do":"a","note":"y"}`)
	p.refuse(`run {"do":"a"}`, gate.KindBlocked, "row")
	p.allow(`run {"do":"a","ms":1}`) // the test does not give the call the name s.run

	again, err := gate.NewPolicy([]gate.Net{rowNet("*", 2)}, policy.Options())
	if err != nil || again.Fingerprint() != policy.Fingerprint() || fmt.Sprint(again.Ignored(&of)) != "[note ms]" {
		t.Errorf("the options do not make the same policy: %v", err)
	}
	o.Ignored[1].Field = "other" // usual arguments are not part of the fingerprint
	if usual, err := gate.NewPolicy([]gate.Net{rowNet("*", 2)}, o); err != nil || usual.Fingerprint() != policy.Fingerprint() {
		t.Errorf("%v, or another fingerprint", err)
	}
	o.Ignored[0].Field = "other"
	if other, err := gate.NewPolicy([]gate.Net{rowNet("*", 2)}, o); err != nil || other.Fingerprint() == policy.Fingerprint() {
		t.Errorf("%v, or the same fingerprint", err)
	}
	if none, err := gate.NewPolicy(nil, o); err != nil || none.Row(&of) != "" {
		t.Errorf("%v, or a row where no net counts any", err)
	}
}
