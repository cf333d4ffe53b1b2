package gate_test

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
)

func TestAllErrorsAtOnce(t *testing.T) {
	n := handNet("n", map[string]int{"p": -1}, "t: p -> p [manual]")
	maps := []gate.Map{{Tool: "t"}}
	_, err := gate.NewPolicy([]gate.Net{n, n}, gate.PolicyOptions{Labels: labels(maps...)})
	const want = `net "n": the place "p" starts with -1 tokens (a marking is never negative)
net "n": transition "t": the transition is manual and has no tools (a transition without tools fires by itself)
net "n": another net already has this name
net "n": the place "p" starts with -1 tokens (a marking is never negative)
net "n": transition "t": the transition is manual and has no tools (a transition without tools fires by itself)
the map "t"."" as "": a name is missing`
	if list, ok := err.(gate.ErrorList); !ok || len(list) != 6 || err.Error() != want {
		t.Errorf("%d errors: %v", len(list), err)
	}
}

func TestUnboundedNetsOnRequest(t *testing.T) {
	n := handNet("n", map[string]int{"p": 1}, "t: p -> p q | x")
	n.AllowUnbounded = true
	p := play(t, gate.PolicyOptions{}, n)
	p.success("x")
	p.status("n (active): p:1, q:1")
}

func TestTenThousandRoundsAreNotTooMany(t *testing.T) {
	for tokens, loads := range map[int]bool{10_000: true, 10_001: false} {
		_, err := gate.NewPolicy([]gate.Net{handNet("n", map[string]int{"p": tokens}, "t: p -> q")}, gate.PolicyOptions{})
		if (err == nil) != loads {
			t.Errorf("%d rounds: %v", tokens, err)
		}
	}
}

func TestNetsAreCopied(t *testing.T) {
	n := handNet("n", map[string]int{"p": 1}, "t: p -> q | x")
	p := play(t, gate.PolicyOptions{}, n)
	n.Transitions[0].Tools[0].Name = "y"
	n.Initial["p"] = 7
	n.Transitions[0].Inputs[0] = "q"
	p.allow("x")
	p.refuse("x", gate.KindBlocked, "n")
	p.Reset()
	p.status("n (active): p:1")
}

func TestEqualStatementsAreOneNet(t *testing.T) {
	first, again := limitNet("x", 1, "session"), limitNet("x", 1, "session")
	first.Rule, again.Rule = gate.Position{Line: 1, Column: 1}, gate.Position{Line: 2, Column: 1}
	quoted := blockNet("y")
	quoted.Transitions[1].Tools[0].Kind = gate.Literal
	quoted2 := blockNet("y")
	quoted2.Transitions[1].Tools[0] = gate.Tool{Name: "y", Kind: gate.Glob}
	written := handNet("block-z", map[string]int{"p": 1}, "t: p -> p | other")
	policy, err := gate.NewPolicy([]gate.Net{first, again, blockNet("y"), quoted, quoted2, blockNet("z"), written}, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range policy.Nets() {
		names = append(names, n.Name)
	}
	if got := strings.Join(names, " "); got != "limit-x-1 block-y block-y#2 block-y#3 block-z#2 block-z" {
		t.Errorf("nets %s", got)
	}
	if m := policy.Merged(); len(m) != 1 || m[0].Net != "limit-x-1" || m[0].First.String() != "1:1" || m[0].Again.String() != "2:1" {
		t.Errorf("merged %+v", m)
	}
}

func TestFingerprints(t *testing.T) {
	base := func() ([]gate.Net, gate.PolicyOptions) {
		m := gate.Map{Tool: "t", Field: "f", As: "x", Source: "a", Match: contains("a")}
		return []gate.Net{limitNet("x", 1, "session")}, gate.PolicyOptions{Labels: labels(m)}
	}
	prints := make(map[string]string)
	for name, edit := range map[string]func([]gate.Net, *gate.PolicyOptions){
		"base":    func([]gate.Net, *gate.PolicyOptions) {},
		"deny":    func(_ []gate.Net, o *gate.PolicyOptions) { o.Deny = true },
		"doubts":  func(_ []gate.Net, o *gate.PolicyOptions) { o.AskDoubts = true },
		"map":     func(_ []gate.Net, o *gate.PolicyOptions) { o.Labels[0].Maps[0].Source = "b" },
		"initial": func(n []gate.Net, _ *gate.PolicyOptions) { n[0].Initial["budget"] = 2 },
		"name":    func(n []gate.Net, _ *gate.PolicyOptions) { n[0].Name = "other" },
		"hook":    func(n []gate.Net, _ *gate.PolicyOptions) { n[0].OnSuccess = func(gate.Firing) {} },
		"tools":   func(n []gate.Net, _ *gate.PolicyOptions) { n[0].Transitions[1].Tools = gate.Tools("y") },
	} {
		nets, o := base()
		edit(nets, &o)
		p, err := gate.NewPolicy(nets, o)
		if err != nil {
			t.Fatal(err)
		}
		print := p.Fingerprint()
		if other, ok := prints[print]; ok || len(print) != 64 {
			t.Errorf("%s and %s have the fingerprint %s", name, other, print)
		}
		prints[print] = name
	}
	nets, o := base()
	nets[0].Rule.Line = 9
	p, _ := gate.NewPolicy(nets, o)
	if prints[p.Fingerprint()] != "base" {
		t.Error("a position is no part of what decides")
	}
}
