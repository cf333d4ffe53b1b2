package gate_test

import (
	"testing"

	"github.com/petrigate/petrigate/gate"
)

// TestAskDoubts checks that a person is asked about a name that might block a call, and that the
// call is then decided without that name.
func TestAskDoubts(t *testing.T) {
	words := &commands{words: []string{"ls", "cat", "rm"}}
	block := func(name string) gate.Net {
		n := blockNet(name)
		n.Reason = name + " is blocked."
		return n
	}
	o := gate.PolicyOptions{Labels: labels(shellMaps(words)...), AskDoubts: true}
	p := play(t, o, block("remove"), block("read"), block("other"), limitNet("sh", 9, "session"))
	a := p.ask(`sh {"c":"?"}`)
	if len(a.Steps) != 2 || a.Steps[0].Reason != "Cannot tell whether this is remove: a doubt. If it is: remove is blocked." || a.Steps[0].Doubt == nil {
		t.Errorf("%+v", a.Steps)
	}
	if got := spell(a.Names); got != "sh! remove~ read~" && got != "sh! read~ remove~" {
		t.Error(got)
	}
	p.allowCall(call(`sh {"c":"?"}`), a.Grant())
	p.refuse(`sh {"c":"?; rm"}`, gate.KindBlocked, "block-remove", "block-read")
	p.refuse(`other`, gate.KindBlocked, "block-other")
	p.allow(`sh {"c":"who"}`)

	policy, err := gate.NewPolicy([]gate.Net{block("remove")}, o)
	if err != nil || !policy.Options().AskDoubts {
		t.Fatalf("%v", err)
	}
	prepared := policy.Prepare(call(`sh {"c":"?"}`))
	for range 2 {
		if d, _ := prepared.Decide(policy.NewState(nil), nil); len(d.(*gate.Ask).Steps) != 1 {
			t.Errorf("%+v", d)
		}
	}
}
