package fingerprint

import (
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate/toolnet"
)

// full is a net with all parts that a fingerprint covers.
func full() toolnet.Net {
	return toolnet.Net{
		Name: "full", Places: []string{"p", "q"}, Initial: map[string]int{"p": 2}, Free: []string{"free"},
		Key: []toolnet.Field{{Path: "path"}},
		Transitions: []toolnet.Transition{
			{Name: "t", Inputs: []string{"p"}, Outputs: []string{"q"}, Tools: toolnet.Tools("x"), Key: []toolnet.Field{{Reader: reader{}, Source: "args.f"}}},
			{Name: "back", Inputs: []string{"q"}, Outputs: []string{"p"}, Every: time.Minute},
		},
		Maps:   []toolnet.Map{{Tool: "x", Field: "f", As: "y", Source: "a*", Match: func(string) bool { return true }}},
		Sum:    &toolnet.Sum{Field: toolnet.Field{Path: "amount"}, Most: 7, Every: time.Hour},
		Phases: []toolnet.Phase{{Place: "q", Tools: toolnet.Tools("z")}},
	}
}

type reader struct{}

func (reader) Value(*toolnet.Call, int) ([]byte, bool) { return nil, false }

// TestNetsKeepTheirPrints pins the fingerprints of nets, which identify stored states.
func TestNetsKeepTheirPrints(t *testing.T) {
	for want, n := range map[string]toolnet.Net{
		"716226dc29e0684f95d15a45ef78ef78696fb817489e84fe466f185b3f9f352c": full(),
		"c1d4a65d629a2c53d068de1434c5f0170b88d0327ce841b62632d71d66dfb7d6": {Places: []string{"p"}},
	} {
		if got := Net(&n); got != want {
			t.Errorf("%s has the fingerprint %s, want %s", n.Name, got, want)
		}
	}
	p := Policy{
		Nets: []NetOfPolicy{{Name: "n", Print: "1", Reason: "because", Recovery: map[string]int{"p": 1}}},
		Maps: full().Maps, Deny: true, Keys: 5,
	}
	if got := p.Print(); got != "f885f1ebac0785124559146ebc6b9e47498e03ac222c9b4b6d89b4af7ff7d334" {
		t.Errorf("the policy has the fingerprint %s", got)
	}
	seen := map[string]bool{p.Print(): true}
	for _, c := range []toolnet.Condition{{Tool: "a", Source: "x"}, {Tool: "a", Source: "y"}, {Tool: "b", Source: "x"}, {Tool: "a", Glob: true, Source: "x"}} {
		p.Successes = []toolnet.Condition{c}
		seen[p.Print()] = true
	}
	if len(seen) != 5 {
		t.Errorf("%d fingerprints of 5 policies", len(seen))
	}
}

// TestPrintsDiffer changes every part that determines decisions.
func TestPrintsDiffer(t *testing.T) {
	seen := map[string]string{}
	for name, edit := range map[string]func(*toolnet.Net){
		"nothing": func(*toolnet.Net) {},
		"initial": func(n *toolnet.Net) { n.Initial["p"] = 1 },
		"free":    func(n *toolnet.Net) { n.Free = nil },
		"key":     func(n *toolnet.Net) { n.Key[0].Path = "other" },
		"source":  func(n *toolnet.Net) { n.Transitions[0].Key[0].Source = "args.g" },
		"result":  func(n *toolnet.Net) { n.Key[0].Result = true },
		"input":   func(n *toolnet.Net) { n.Transitions[0].Inputs = []string{"q"} },
		"tool":    func(n *toolnet.Net) { n.Transitions[0].Tools[0].Kind = toolnet.Glob },
		"clock":   func(n *toolnet.Net) { n.Transitions[1].Every = time.Hour },
		"map":     func(n *toolnet.Net) { n.Maps[0].Glob = true },
		"labels":  func(n *toolnet.Net) { n.Labels = &toolnet.Labels{} },
		"hook":    func(n *toolnet.Net) { n.OnSuccess = func(toolnet.Firing) {} },
		"code":    func(n *toolnet.Net) { n.Identity = "2" },
		"sum":     func(n *toolnet.Net) { n.Sum.Most = 8 },
		"phase":   func(n *toolnet.Net) { n.Phases[0].Tools = nil },
		"row":     func(n *toolnet.Net) { n.Row = true },
		"scope":   func(n *toolnet.Net) { n.Scope = toolnet.ScopeGlobal },
	} {
		n := full()
		edit(&n)
		print := Net(&n)
		if other, taken := seen[print]; taken || len(print) != 64 {
			t.Errorf("%s and %s have the fingerprint %s", name, other, print)
		}
		seen[print] = name
	}
	n := full()
	n.Rule.Line, n.Reason = 9, "because"
	if seen[Net(&n)] != "nothing" {
		t.Error("a position or a sentence is part of what decides")
	}
}

func TestHashWantsPlainData(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("something without a JSON form has a fingerprint")
		}
	}()
	hash(func() {})
}
