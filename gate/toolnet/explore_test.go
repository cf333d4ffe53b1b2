package toolnet_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate/toolnet"
)

func TestStates(t *testing.T) {
	loose := handNet("loose", map[string]int{"p": 1}, "go: p -> q | x", "pump: q -> q r | y")
	loose.AllowUnbounded = true
	end := handNet("end", map[string]int{"p": 2}, "go: p -> q | x", "both: q q -> r | y", "never: s -> p | z")
	end.Terminal = []string{"q"}
	states := func(n *toolnet.Net, most int) string {
		var got []string
		for s := range n.States() {
			got = append(got, fmt.Sprintf("%s %v", s.Marking, s.Enabled))
			if len(got) == most {
				break
			}
		}
		return strings.Join(got, "; ")
	}
	if got := states(&end, 0); got != "p:2 [go]; p:1, q:1 [go]; q:2 [both]; r:1 []" {
		t.Errorf("end: %s", got)
	}
	if got := states(&loose, 3); got != "p:1 [go]; q:1 [pump]; q:1, r:1 [pump]" {
		t.Errorf("loose: %s", got)
	}
	e := end.Explore(0)
	if e.Deadlocks != 1 || e.Trapped != 1 || strings.Join(e.Trap, " ") != "go go both" || fmt.Sprint(e.Invariants) != "[p + q + 2 r + s = 2]" {
		t.Errorf("%+v", e)
	}
}

// TestConserves compares the answers about weights with the states themselves.
func TestConserves(t *testing.T) {
	grows := handNet("grows", map[string]int{"p": 1}, "go: p -> q | x", "pump: q -> q r | y", "never: s -> p | z")
	grows.AllowUnbounded = true
	vast := handNet("vast", map[string]int{"a": 20, "q": 1}, "ab: a -> b | x", "bc: b -> c | x", "cd: c -> d | x", "de: d -> e | x", "ef: e -> f | x",
		"pump: q -> q r | y", "never: s -> p | z")
	vast.AllowUnbounded = true
	long := handNet("long", map[string]int{"a": 10}, "ab: a -> b | x", "last: b b b b b b b b b b -> c | y", "never: s -> a | z")
	type weights = map[string]int
	for _, c := range []struct {
		net   *toolnet.Net
		w     weights
		limit int
		want  toolnet.Answer
	}{
		{&grows, weights{"t": 1}, 0, toolnet.Unsure},
		{&grows, weights{"p": 1 << 31}, 0, toolnet.Unsure},
		{&grows, weights{"p": -1 << 31}, 0, toolnet.Unsure},
		{&grows, weights{}, 0, toolnet.Yes},
		{&grows, weights{"p": 1, "q": 1}, 0, toolnet.Yes}, // except for transitions that never fire
		{&grows, weights{"p": 1, "q": 1, "r": 1}, 0, toolnet.No},
		{&vast, weights{"q": 1}, 0, toolnet.Yes},
		{&vast, weights{"p": 1}, 0, toolnet.Unsure},
		{&long, weights{"a": 1, "b": 1, "c": 10}, 0, toolnet.Yes},
		{&long, weights{"a": 1, "b": 1}, 0, toolnet.No},
		{&long, weights{"a": 1, "b": 1}, 5, toolnet.Unsure},
		{&long, weights{"a": 1, "c": 10}, 5, toolnet.No},
	} {
		if got := c.net.Conserves(c.w, c.limit); got != c.want {
			t.Errorf("%s %v within %d: %v, want %v", c.net.Name, c.w, c.limit, got, c.want)
		}
	}
}

func TestExplore(t *testing.T) {
	loose := handNet("loose", map[string]int{"p": 1}, "go: p -> q | x", "pump: q -> q r | y", "never: s -> s | z")
	loose.AllowUnbounded = true
	ten := handNet("ten", map[string]int{"p": 10}, "go: p -> q | x")
	split := handNet("split", map[string]int{"p": 2_000}, "split: p -> q q | x", "sink: q -> | y")
	limit := handNet("limit", map[string]int{"idle": 1, "budget": 10_000}, "begin: idle -> ready", "do: ready budget -> ready | x")
	e := limit.Explore(0)
	if e.States != 10_002 || !e.Complete || e.Bounded != toolnet.Yes || e.Deadlocks != 1 {
		t.Errorf("%+v", e)
	}
	if e := limit.Explore(5); e.States != 10_002 || !e.Complete {
		t.Errorf("a budget costs its size: %+v", e)
	}
	if e := ten.Explore(5); e.States != 5 || e.Complete || e.Bounded != toolnet.Yes {
		t.Errorf("%+v", e)
	}
	e = loose.Explore(0)
	if e.Bounded != toolnet.No || strings.Join(e.Unbounded, " ") != "r" || strings.Join(e.Prefix, " ") != "go" || strings.Join(e.Pump, " ") != "pump" {
		t.Errorf("%+v", e)
	}
	if strings.Join(e.DeadTransitions, " ") != "never" {
		t.Errorf("dead are %v", e.DeadTransitions)
	}
	if e := split.Explore(5); e.Complete || e.Bounded != toolnet.Unsure {
		t.Errorf("%+v", e)
	}
}
