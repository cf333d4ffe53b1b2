package fingerprint

import (
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate/toolnet"
)

// limitOf returns a limit of the given number of calls, which become available again one by one
// within span.
func limitOf(n int, span time.Duration) toolnet.Net {
	return toolnet.Net{
		Places: []string{"budget", "spent"}, Initial: map[string]int{"budget": n},
		Transitions: []toolnet.Transition{
			{Name: "use", Inputs: []string{"budget"}, Outputs: []string{"spent"}, Tools: toolnet.Tools("a", "b")},
			{Name: "refill", Inputs: []string{"spent"}, Outputs: []string{"budget"}, Every: (span + time.Duration(n) - 1) / time.Duration(n)},
		},
	}
}

// TestFamilies checks that limits that differ only in their number belong to the same family.
func TestFamilies(t *testing.T) {
	spans := []time.Duration{time.Second, time.Minute, time.Hour, 24 * time.Hour}
	for i, span := range spans {
		one := limitOf(7, span)
		for _, n := range []int{1, 3, 86_401, 1<<31 - 1} {
			other := limitOf(n, span)
			if Family(&one, "budget") != Family(&other, "budget") {
				t.Errorf("%d in %s are of another family than 7", n, span)
			}
		}
		longer := limitOf(7, spans[(i+1)%len(spans)])
		if Family(&one, "budget") == Family(&longer, "budget") {
			t.Errorf("spans of %s and another one are of one family", span)
		}
		if one.Initial["budget"] != 7 {
			t.Error("the net has changed")
		}
	}
	sum := func(most int, every time.Duration) *toolnet.Net {
		return &toolnet.Net{Sum: &toolnet.Sum{Field: toolnet.Field{Path: "x"}, Most: most, Every: every}}
	}
	if Family(sum(1, 0), "") != Family(sum(2, 0), "") || Family(sum(1, 0), "") == Family(sum(1, time.Hour), "") {
		t.Error("families of sums")
	}
}

// TestLimits checks that a limit's fingerprint depends on the counted calls, the scope and the key.
func TestLimits(t *testing.T) {
	one := limitOf(3, time.Hour)
	seen := map[string]string{}
	for name, edit := range map[string]func(*toolnet.Net){
		"as it was": func(*toolnet.Net) {},
		"tools":     func(n *toolnet.Net) { n.Transitions[0].Tools = toolnet.Tools("a") },
		"kind":      func(n *toolnet.Net) { n.Transitions[0].Tools[0].Kind = toolnet.Glob },
		"scope":     func(n *toolnet.Net) { n.Scope = toolnet.ScopeGlobal },
		"key":       func(n *toolnet.Net) { n.Key = []toolnet.Field{{Path: "k"}} },
		"sum":       func(n *toolnet.Net) { n.Sum = &toolnet.Sum{Field: toolnet.Field{Path: "s"}} },
		"at once":   func(n *toolnet.Net) { n.Transitions[0].Deferred = true },
		"in a row":  func(n *toolnet.Net) { n.Row = true },
	} {
		n := limitOf(3, time.Hour)
		edit(&n)
		print := Limit(&n, 0)
		if other := seen[print]; other != "" {
			t.Errorf("%s and %s are the same", name, other)
		}
		seen[print] = name
	}
	same := limitOf(9, time.Minute)
	same.Transitions[0].Tools = toolnet.Tools("b", "a")
	if Limit(&one, 0) != Limit(&same, 0) {
		t.Error("the order of tools and the number matter")
	}
}

// TestWithMapsChangesPrint checks that a net's maps are part of its fingerprint.
func TestWithMapsChangesPrint(t *testing.T) {
	m := toolnet.Map{Tool: "bash", Field: "command", As: "rm", Source: "rm"}
	if WithMaps("p", nil) != "p" || WithMaps("p", []toolnet.Map{m}) == "p" || WithMaps("p", []toolnet.Map{m}) == WithMaps("p", []toolnet.Map{m, m}) {
		t.Error("maps make no difference")
	}
}
