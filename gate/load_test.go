package gate_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
)

func TestLoadErrors(t *testing.T) {
	one := map[string]int{"p": 1}
	edit := func(f func(*gate.Net)) gate.Net {
		n := handNet("n", one, "t: p -> p | x")
		f(&n)
		return n
	}
	for _, c := range []struct {
		name string
		net  gate.Net
		want string
	}{
		{"no name", handNet("", one), "the net has no name"},
		{"place twice", edit(func(n *gate.Net) { n.Places = []string{"p", "p"} }), `net "n": the place "p" is named twice`},
		{"unknown input", edit(func(n *gate.Net) { n.Transitions[0].Inputs = []string{"q"} }), `net "n": transition "t": unknown place "q" (did you mean "p"?)`},
		{"unknown output", edit(func(n *gate.Net) { n.Transitions[0].Outputs = []string{"q"} }), `net "n": transition "t": unknown place "q" (did you mean "p"?)`},
		{"an input that is like no place", edit(func(n *gate.Net) { n.Transitions[0].Inputs = []string{"elsewhere"} }), `net "n": transition "t": unknown place "elsewhere" (places: p)`},
		{"an input where there are no places", edit(func(n *gate.Net) { n.Places, n.Initial, n.Transitions[0].Outputs = nil, nil, nil }), `net "n": transition "t": unknown place "p" (the net has no places)`},
		{"unknown initial", edit(func(n *gate.Net) { n.Initial = map[string]int{"q": 1} }), `net "n": unknown place "q" (did you mean "p"?)`},
		{"unknown terminal", edit(func(n *gate.Net) { n.Terminal = []string{"q"} }), `net "n": unknown place "q" (did you mean "p"?)`},
		{"negative", edit(func(n *gate.Net) { n.Initial = map[string]int{"p": -1} }), `net "n": the place "p" starts with -1 tokens (a marking is never negative)`},
		{"too many", edit(func(n *gate.Net) { n.Initial = map[string]int{"p": math.MaxInt32 + 1} }), `net "n": the place "p" starts with 2147483648 tokens (2147483647 is the most)`},
		{"sum of nothing", edit(func(n *gate.Net) { n.Sum = &gate.Sum{Most: 1} }), `net "n": the sum: a field has no path`},
		{"sum of two things", edit(func(n *gate.Net) { n.Sum = &gate.Sum{Most: 1, Field: gate.Field{Path: "a", Reader: total(1)}} }), `net "n": the sum: the field "a" has a path and an expression`},
		{"sum by a bad path", edit(func(n *gate.Net) { n.Sum = &gate.Sum{Most: 1, Field: gate.Field{Path: "$.f["}} }), `net "n": the sum: the path "$.f[": at byte 3: the bracket is not closed`},
		{"sum of many", edit(func(n *gate.Net) { n.Sum = &gate.Sum{Most: 1, Field: gate.Field{Path: "$.f[*]"}} }), `net "n": the sum: the path "$.f[*]" leads to more than one value`},
		{"sum of a result", edit(func(n *gate.Net) { n.Sum = &gate.Sum{Most: 1, Field: gate.Field{Path: "f", Result: true}} }), `net "n": the sum is of the result, which is not known when the call is decided (sum up an argument)`},
		{"sum of nought", edit(func(n *gate.Net) { n.Sum = &gate.Sum{Field: gate.Field{Path: "$.f.g"}} }), `net "n": the sum is at most 0 (1 is the least)`},
		{"sum by a fast clock", edit(func(n *gate.Net) { n.Sum = &gate.Sum{Field: gate.Field{Path: "f"}, Most: 1, Every: 1} }), `net "n": the sum comes back every 1ns (1µs is the shortest time)`},
		{"phase of no place", edit(func(n *gate.Net) { n.Phases = []gate.Phase{{Place: "q"}} }), `net "n": unknown place "q" (did you mean "p"?)`},
		{"phase twice", edit(func(n *gate.Net) { n.Phases = []gate.Phase{{Place: "p"}, {Place: "p"}} }), `net "n": the place "p" has two phases`},
		{"phase without a name", edit(func(n *gate.Net) { n.Phases = []gate.Phase{{Place: "p", Tools: gate.Tools("")}} }), `net "n": a tool of the phase "p" has no name`},
		{"row with a key", edit(func(n *gate.Net) { n.Row, n.Key = true, []gate.Field{{Path: "f"}} }), `net "n": the net counts calls in a row and has a key (calls in a row are equal in all arguments: leave out the key)`},
		{"phases with a key", edit(func(n *gate.Net) { n.Phases, n.Key = []gate.Phase{{Place: "p"}}, []gate.Field{{Path: "f"}} }), `net "n": the net has phases and a key (a call without a value is in no phase: put the phases into a net of their own)`},
		{"spoils what it gates", handNet("n", one, "t: p -> p [spoils] | x"), `net "n": transition "t": the transition spoils evidence and does not observe tools (a call spoils evidence whether or not the net lets it pass: observe it)`},
		{"spoils by itself", handNet("n", one, "t: p -> p [spoils]"), `net "n": transition "t": the transition spoils evidence and does not observe tools (a call spoils evidence whether or not the net lets it pass: observe it)`},
		{"spoils late", handNet("n", one, "t: p -> p [observe] [deferred] [spoils] | x"), `net "n": transition "t": the transition spoils evidence and is deferred (evidence is void from the moment when the call is admitted, whatever comes of it)`},
		{"spoils what is in flight", handNet("n", one, "t: p -> q [observe] [spoils] | x", "use: p -> q [deferred] | y"), `net "n": transition "t": the transition spoils evidence that the deferred transition "use" can have in flight (a failure would give it back: make use immediate)`},
		{"fewer than no people", edit(func(n *gate.Net) { n.Transitions[0].Approvals = -1 }), `net "n": transition "t": the transition needs the approval of -1 persons`},
		{"approvals of nobody", edit(func(n *gate.Net) { n.Transitions[0].Approvals = 2 }), `net "n": transition "t": the transition needs approvals and is not manual (only a manual transition asks persons)`},
		{"a field of nothing", edit(func(n *gate.Net) { n.Key = []gate.Field{{}} }), `net "n": a field has no path`},
		{"a field twice read", edit(func(n *gate.Net) { n.Key = []gate.Field{{Path: "p", Reader: &values{}}} }), `net "n": the field "p" has a path and an expression`},
		{"a bad path in a key", edit(func(n *gate.Net) { n.Transitions[0].Key = []gate.Field{{Path: "$.f["}} }), `net "n": transition "t": the path "$.f[": at byte 3: the bracket is not closed`},
		{"an expression over a result", handKey("n", gate.Field{Reader: &values{}, Source: "e", Result: true}, "t: p -> p [observe] [deferred] | x"), `net "n": the expression "e" cannot read the result`},
		{"a result before it is there", handKey("n", gate.Field{Path: "id", Result: true}, "t: p -> p [observe] | x"), `net "n": transition "t": "id" reads the result (only an observer that is deferred knows the result: a call is judged before there is one)`},
		{"a key of nobody", edit(func(n *gate.Net) {
			n.Transitions = append(n.Transitions, gate.Transition{Name: "u", Inputs: []string{"p"}, Outputs: []string{"p"}, Tools: gate.Tools("y"), Key: []gate.Field{{Path: "p"}}})
		}), `net "n": transition "t": the transition has no key, and others of the net have one (give the net a key, or every transition with tools)`},
		{"a key of a step", edit(func(n *gate.Net) {
			n.Key = []gate.Field{{Path: "p"}}
			n.Transitions = append(n.Transitions, gate.Transition{Name: "u", Inputs: []string{"q"}, Key: []gate.Field{{Path: "p"}}})
			n.Places = append(n.Places, "q")
		}), `net "n": transition "u": the transition has a key and no tools (a key is read from a call)`},
		{"keys of two sizes", edit(func(n *gate.Net) {
			n.Key = []gate.Field{{Path: "a"}, {Path: "b"}}
			n.Transitions[0].Key = []gate.Field{{Path: "a"}}
		}), `net "n": transition "t": the key has 1 field, and that of others 2 (a value of the net has as many parts everywhere)`},
		{"two readers of a result", handKey("n", gate.Field{Path: "id", Result: true}, "t: p -> p [observe] [deferred] | x", "u: p -> p [observe] [deferred] | x"), `net "n": transition "u": the transition and "t" read the result of one tool (put one of them into a net of its own)`},
		{"two globs that read a result", resultGlobs("*", "x*"), `net "n": transition "u": the transition and "t" read the result of one tool (put one of them into a net of its own)`},
		{"a glob and a name that read a result", resultGlobs("x*", "=xy"), `net "n": transition "u": the transition and "t" read the result of one tool (put one of them into a net of its own)`},
		{"a name and a glob that read a result", resultGlobs("=xy", "x*"), `net "n": transition "u": the transition and "t" read the result of one tool (put one of them into a net of its own)`},
		{"too many keys", manyKeys(64), `net "n": 64 transitions have keys of their own (63 is the most)`},
		{"transition twice", handNet("n", one, "t: p -> p | x", "t: p -> p | y"), `net "n": transition "t": the net has two transitions of this name`},
		{"transition without name", handNet("n", one, ": p -> p | x"), `net "n": a transition has no name`},
		{"manual", handNet("n", one, "t: p -> p [manual]"), `net "n": transition "t": the transition is manual and has no tools (a transition without tools fires by itself)`},
		{"deferred", handNet("n", one, "t: p -> p [deferred]"), `net "n": transition "t": the transition is deferred and has no tools (a transition without tools fires by itself)`},
		{"observe", handNet("n", one, "t: p -> p [observe]"), `net "n": transition "t": the transition is observe and has no tools (a transition without tools fires by itself)`},
		{"observe manual", handNet("n", one, "t: p -> p [observe] [manual] | x"), `net "n": transition "t": a transition that observes cannot be manual (an observer never forbids a call, so there is nothing to approve)`},
		{"tool without name", edit(func(n *gate.Net) { n.Transitions[0].Tools = gate.Tools("") }), `net "n": transition "t": a tool has no name`},
		{"free without name", edit(func(n *gate.Net) { n.Free = []string{""} }), `net "n": a free tool has no name`},
		{"map without name", edit(func(n *gate.Net) { n.Maps = []gate.Map{{Tool: "x"}} }), `net "n": the map "x"."" as "" lacks a name`},
		{"map without match", edit(func(n *gate.Net) { n.Maps = []gate.Map{{Tool: "x", Field: "f", As: "y"}} }), `net "n": the map of "x"."f" matches nothing`},
		{"map with both", edit(func(n *gate.Net) {
			n.Maps = []gate.Map{{Tool: "x", Field: "f", As: "y", Match: contains("x"), Reader: &commands{}}}
		}), `net "n": the map of "x"."f" has a pattern and a reader`},
		{"map by a bad path", edit(func(n *gate.Net) {
			n.Maps = []gate.Map{{Tool: "x", Field: "$.f[", As: "y", Match: contains("x")}}
		}), `net "n": the path "$.f[": at byte 3: the bracket is not closed`},
		{"unless without name", edit(func(n *gate.Net) { n.Transitions[0].Unless = gate.Tools("") }), `net "n": transition "t": a tool has no name`},
		{"unless without tools", edit(func(n *gate.Net) {
			n.Transitions[0].Tools, n.Transitions[0].Unless = nil, gate.Tools("x")
		}), `net "n": transition "t": the transition is limited by unless and has no tools (a transition without tools fires by itself)`},
		{"scope", edit(func(n *gate.Net) { n.Scope = 3 }), `net "n": 3 is no scope`},
		{"unknown recovery", edit(func(n *gate.Net) { n.Recovery = map[string]int{"q": 1} }), `net "n": unknown place "q" (did you mean "p"?)`},
		{"clock and tools", handNet("n", one, "t: p -> p [1s] | x"), `net "n": transition "t": the transition fires by the clock and has tools (put the tools on a transition of their own)`},
		{"clock and a person", handNet("n", one, "t: p -> p [1s] [manual]"), `net "n": transition "t": the transition is manual and has no tools (a transition without tools fires by itself)`},
		{"clock too fast", handNet("n", one, "t: p -> p [999ns]"), `net "n": transition "t": the transition fires every 999ns (1µs is the shortest time)`},
		{"clock backwards", handNet("n", one, "t: p -> p [-1s]"), `net "n": transition "t": the transition fires every -1s (1µs is the shortest time)`},
		{"unbounded by the clock", handNet("n", one, "t: p -> p q [1s]"), `net "n": the net is unbounded: t repeated adds tokens to q without end (give a place for what is used up, or set allowUnbounded)`},
		{"unbounded", handNet("n", one, "t: p -> p q | x"), `net "n": the net is unbounded: t repeated adds tokens to q without end (give a place for what is used up, or set allowUnbounded)`},
		{"restless", handNet("n", map[string]int{"p": 20_000}, "t: p -> q"), `net "n": the transitions without tools do not come to rest in 10000 rounds (give one of them a tool)`},
		{"source", handNet("n", nil, "t: -> q"), `net "n": the transitions without tools do not come to rest in 10000 rounds (give one of them a tool)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.net.Rule = gate.Position{File: "f.yaml", Line: 3, Column: 5}
			_, err := gate.NewPolicy([]gate.Net{c.net}, gate.PolicyOptions{})
			if err == nil || err.Error() != "f.yaml:3:5: "+c.want {
				t.Errorf("error is\n%v, want\n%s", err, c.want)
			}
			var e *gate.NetError
			if !errors.As(err, &e) || e.Net != c.net.Name {
				t.Errorf("%#v is no error about the net", err)
			}
		})
	}
}

func TestAllErrorsAtOnce(t *testing.T) {
	n := handNet("n", map[string]int{"p": -1}, "t: p -> p [manual]")
	maps := []gate.Map{{Tool: "t"}}
	_, err := gate.NewPolicy([]gate.Net{n, n}, gate.PolicyOptions{Labels: labels(maps...)})
	const want = `net "n": the place "p" starts with -1 tokens (a marking is never negative)
net "n": transition "t": the transition is manual and has no tools (a transition without tools fires by itself)
net "n": two nets have this name
net "n": the place "p" starts with -1 tokens (a marking is never negative)
net "n": transition "t": the transition is manual and has no tools (a transition without tools fires by itself)
the map "t"."" as "" lacks a name`
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

func TestStates(t *testing.T) {
	loose := handNet("loose", map[string]int{"p": 1}, "go: p -> q | x", "pump: q -> q r | y")
	loose.AllowUnbounded = true
	end := handNet("end", map[string]int{"p": 2}, "go: p -> q | x", "both: q q -> r | y", "never: s -> p | z")
	end.Terminal = []string{"q"}
	policy, err := gate.NewPolicy([]gate.Net{loose, end}, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	states := func(name string, most int) string {
		var got []string
		for s := range policy.States(name) {
			got = append(got, fmt.Sprintf("%s %v", s.Marking, s.Enabled))
			if len(got) == most {
				break
			}
		}
		return strings.Join(got, "; ")
	}
	if got := states("end", 0); got != "p:2 [go]; p:1, q:1 [go]; q:2 [both]; r:1 []" {
		t.Errorf("end: %s", got)
	}
	if got := states("loose", 3); got != "p:1 [go]; q:1 [pump]; q:1, r:1 [pump]" {
		t.Errorf("loose: %s", got)
	}
	if got := states("nothing", 0); got != "" {
		t.Errorf("nothing: %s", got)
	}
	e, _ := policy.Explore("end", 0)
	if e.Deadlocks != 1 || e.Trapped != 1 || strings.Join(e.Trap, " ") != "go go both" || fmt.Sprint(e.Invariants) != "[p + q + 2 r + s = 2]" {
		t.Errorf("%+v", e)
	}
}

// TestConserves holds what is said of weights to the states themselves.
func TestConserves(t *testing.T) {
	grows := handNet("grows", map[string]int{"p": 1}, "go: p -> q | x", "pump: q -> q r | y", "never: s -> p | z")
	grows.AllowUnbounded = true
	vast := handNet("vast", map[string]int{"a": 20, "q": 1}, "ab: a -> b | x", "bc: b -> c | x", "cd: c -> d | x", "de: d -> e | x", "ef: e -> f | x",
		"pump: q -> q r | y", "never: s -> p | z")
	vast.AllowUnbounded = true
	long := handNet("long", map[string]int{"a": 10}, "ab: a -> b | x", "last: b b b b b b b b b b -> c | y", "never: s -> a | z")
	policy, err := gate.NewPolicy([]gate.Net{grows, vast, long}, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	type weights = map[string]int
	for _, c := range []struct {
		net   string
		w     weights
		limit int
		want  gate.Answer
	}{
		{"nothing", weights{}, 0, gate.Unsure},
		{"grows", weights{"t": 1}, 0, gate.Unsure},
		{"grows", weights{"p": 1 << 31}, 0, gate.Unsure},
		{"grows", weights{"p": -1 << 31}, 0, gate.Unsure},
		{"grows", weights{}, 0, gate.Yes},
		{"grows", weights{"p": 1, "q": 1}, 0, gate.Yes}, // but for what never fires
		{"grows", weights{"p": 1, "q": 1, "r": 1}, 0, gate.No},
		{"vast", weights{"q": 1}, 0, gate.Yes},
		{"vast", weights{"p": 1}, 0, gate.Unsure},
		{"long", weights{"a": 1, "b": 1, "c": 10}, 0, gate.Yes},
		{"long", weights{"a": 1, "b": 1}, 0, gate.No},
		{"long", weights{"a": 1, "b": 1}, 5, gate.Unsure},
		{"long", weights{"a": 1, "c": 10}, 5, gate.No},
	} {
		if got := policy.Conserves(c.net, c.w, c.limit); got != c.want {
			t.Errorf("%s %v within %d: %v, want %v", c.net, c.w, c.limit, got, c.want)
		}
	}
}

func TestExplore(t *testing.T) {
	loose := handNet("loose", map[string]int{"p": 1}, "go: p -> q | x", "pump: q -> q r | y", "never: s -> s | z")
	loose.AllowUnbounded = true
	ten := handNet("ten", map[string]int{"p": 10}, "go: p -> q | x")
	split := handNet("split", map[string]int{"p": 2_000}, "split: p -> q q | x", "sink: q -> | y")
	policy, err := gate.NewPolicy([]gate.Net{limitNet("x", 10_000, "session"), loose, ten, split}, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	e, ok := policy.Explore("limit-x-10000", 0)
	if !ok || e.States != 10_002 || !e.Complete || e.Bounded != gate.Yes || e.Deadlocks != 1 {
		t.Errorf("%+v", e)
	}
	if e, _ := policy.Explore("limit-x-10000", 5); e.States != 10_002 || !e.Complete {
		t.Errorf("a budget costs its size: %+v", e)
	}
	if e, _ := policy.Explore("ten", 5); e.States != 5 || e.Complete || e.Bounded != gate.Yes {
		t.Errorf("%+v", e)
	}
	e, _ = policy.Explore("loose", 0)
	if e.Bounded != gate.No || strings.Join(e.Unbounded, " ") != "r" || strings.Join(e.Prefix, " ") != "go" || strings.Join(e.Pump, " ") != "pump" {
		t.Errorf("%+v", e)
	}
	if strings.Join(e.DeadTransitions, " ") != "never" {
		t.Errorf("dead are %v", e.DeadTransitions)
	}
	if e, _ := policy.Explore("split", 5); e.Complete || e.Bounded != gate.Unsure {
		t.Errorf("%+v", e)
	}
	if _, ok := policy.Explore("missing", 0); ok {
		t.Error("explored a net that is not there")
	}
}

func TestPositions(t *testing.T) {
	for want, p := range map[string]gate.Position{
		"":      {},
		"f":     {File: "f"},
		"1:2":   {Line: 1, Column: 2},
		"f:1:2": {File: "f", Line: 1, Column: 2},
	} {
		if p.String() != want {
			t.Errorf("%q, want %q", p.String(), want)
		}
	}
}

// handKey is handNet with a key.
func handKey(name string, f gate.Field, transitions ...string) gate.Net {
	n := handNet(name, map[string]int{"p": 1}, transitions...)
	n.Key = []gate.Field{f}
	return n
}

// manyKeys is a net with so many transitions, each with a key of its own.
func manyKeys(count int) gate.Net {
	n := handNet("n", map[string]int{"p": 1})
	n.Places = []string{"p"}
	for i := range count {
		n.Transitions = append(n.Transitions, gate.Transition{
			Name: fmt.Sprint("t", i), Inputs: n.Places, Outputs: n.Places, Tools: gate.Tools("x"),
			Key: []gate.Field{{Path: fmt.Sprint("f", i)}},
		})
	}
	return n
}

// resultGlobs is a net in which two transitions read the results of patterns, or of a
// name after "=".
func resultGlobs(first, second string) gate.Net {
	n := handKey("n", gate.Field{Path: "id", Result: true}, "t: p -> p [observe] [deferred] | x", "u: p -> p [observe] [deferred] | x")
	for i, pattern := range []string{first, second} {
		name, plain := strings.CutPrefix(pattern, "=")
		n.Transitions[i].Tools = []gate.Tool{{Name: name, Kind: gate.Glob}}
		if plain {
			n.Transitions[i].Tools[0].Kind = gate.Plain
		}
	}
	return n
}
