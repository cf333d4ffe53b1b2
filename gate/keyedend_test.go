package gate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
)

// TestSuccessForValues checks that the hook is called for each value, with its key and the result,
// and that each value has its own metadata.
func TestSuccessForValues(t *testing.T) {
	n := handNet("n", map[string]int{"p": 1}, "do: p -> q [deferred] | post", "saw: p -> r [observe] [deferred] | list")
	n.Key = []gate.Field{{Path: "channel"}}
	n.Transitions[1].Key = []gate.Field{{Path: "$[*]", Result: true}}
	var seen []string
	n.OnSuccess = func(f gate.Firing) {
		seen = append(seen, fmt.Sprintf("%s %v %s %s", f.Transition, f.Key, f.Result, f.Call.Args))
		f.Meta["of"] = f.Key[0].Value
	}
	p := play(t, gate.PolicyOptions{}, n)
	if !p.Snapshot().Policy().ReadsResults() {
		t.Error("results do not matter")
	}
	p.allow(`post {"channel":["a","b"]}`).Ticket.End(gate.End{Outcome: gate.Success, Result: []byte(`{"ok":true}`)})
	p.allow(`post {"channel":"c"}`).Ticket.Settle(gate.Failure)
	p.allow(`list {}`).Ticket.End(gate.End{Outcome: gate.Success, Result: []byte(`["d"]`)})
	want := []string{
		`do [{channel "a"}] {"ok":true} {"channel":["a","b"]}`,
		`do [{channel "b"}] {"ok":true} {"channel":["a","b"]}`,
		`saw [{channel "d"}] ["d"] {}`,
	}
	if !slices.Equal(seen, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(seen, "\n"), strings.Join(want, "\n"))
	}
	for _, key := range []string{`"a"`, `"d"`} {
		if d := p.Snapshot().Nets[0].Values.Get(key); d == nil || d.Meta["of"] != key {
			t.Errorf("%s: %+v", key, d)
		}
	}
}

// TestMixedKeys checks that a key over an argument and a result is read when the call succeeds.
func TestMixedKeys(t *testing.T) {
	n := sequenceNet("look", "send")
	n.Key = []gate.Field{{Path: "book"}, {Path: "to"}}
	n.Transitions[1].Key = []gate.Field{{Path: "book"}, {Path: "$[*]", Result: true}}
	p := play(t, gate.PolicyOptions{}, n)
	p.allow(`look {"book":"x"}`).Ticket.End(gate.End{Outcome: gate.Success, Result: []byte(`["a","b"]`)})
	p.allow(`look {}`).Ticket.End(gate.End{Outcome: gate.Success, Result: []byte(`["c"]`)})
	p.status(n.Name + " (active): ready:1 for each book, to; x, a: gate:1; x, b: gate:1")
	p.refuse(`send {"book":"y","to":"a"}`, gate.KindBlocked, n.Name)
	p.success(`send {"book":"x","to":"b"}`)
}

// TestWaitsOfSeveralNets checks that a call waits for nets with and without a key, for each value.
func TestWaitsOfSeveralNets(t *testing.T) {
	plain := atOnceNet("post", 5)
	keyed := atOnceNet("post", 1)
	keyed.Name, keyed.Key = "one-a-channel", []gate.Field{{Path: "channel"}}
	p := play(t, gate.PolicyOptions{}, plain, keyed)
	one := p.allow(`post {"channel":["a","b"]}`).Ticket
	c := p.Snapshot().Calls[one.Number]
	if !slices.Equal(c.Nets, []int{0, 1, 1}) || !slices.Equal(c.Keys, []string{"", `"a"`, `"b"`}) {
		t.Errorf("%v %q", c.Nets, c.Keys)
	}
	p.refuse(`post {"channel":"b"}`, gate.KindBlocked, keyed.Name)
	p.success(`post {"channel":"c"}`)
	one.Settle(gate.Success)
	p.status("at-once (active): ready:1, budget:5", "one-a-channel (active): ready:1, budget:1 for each channel")
}

// TestResetWithKeys checks that a reset affects every value, while calls in flight continue to
// spoil the evidence of their values.
func TestResetWithKeys(t *testing.T) {
	for _, mode := range []bool{false, true} {
		n := freshNet("test", "push", "edit")
		n.Key, n.Shadow = []gate.Field{{Path: "path"}}, mode
		p := play(t, gate.PolicyOptions{}, n)
		p.success(`test {"path":["a","b"]}`)
		edit := p.allow(`edit {"path":"a"}`).Ticket
		p.Reset()
		if kept := p.Nets()[0].Values; len(kept) != 1 || kept[0].Key[0].Value != `"a"` || len(kept[0].Spoilers) != 1 || kept[0].Spoilers[0].Call != edit.Number {
			t.Errorf("%v: %+v", mode, kept)
		}
		p.success(`test {"path":["a","b"]}`) // concurrent with the edit: no evidence for a
		edit.Settle(gate.Success)
		p.success(`test {"path":"c"}`)
		for path, want := range map[string]bool{"a": false, "b": true, "c": true} {
			push := call(`push {"path":"` + path + `"}`)
			got := p.Classify(push)[0].Kind == gate.Gated
			if got != want {
				t.Errorf("shadow %v, %s: passes %v, want %v\n%s", mode, path, got, want, p.Status())
			}
		}
	}
}

// TestAdoptWithKeys checks that calls in flight move the values of a net that is kept, and spoil
// those of a net that starts anew.
func TestAdoptWithKeys(t *testing.T) {
	first, stays := atOnceNet("edit", 5), atOnceNet("edit", 1)
	stays.Name, stays.Key = "stays", []gate.Field{{Path: "path"}}
	changes := freshNet("test", "push", "edit")
	changes.Key = []gate.Field{{Path: "path"}}
	s := newPolicy(t, first, stays, changes).NewState(nil)
	edit := pass(t, s, call(`edit {"path":["a","b"]}`))

	changed := freshNet("test", "push", "edit", "write")
	changed.Name, changed.Key = changes.Name, changes.Key
	late := freshNet("check", "ship", "edit")
	now, kept := newPolicy(t, late, changed, stays).Adopt(s, gate.AdoptOptions{})
	if kept[0].Fate != gate.Begun || kept[1].Fate != gate.Begun || !kept[1].Lost || kept[2].Fate != gate.Continued || kept[3].Fate != gate.Dropped {
		t.Errorf("%+v", kept)
	}
	p := now.Policy()
	states := p.NetsOf(now)
	if len(states[0].Spoilers) != 1 || len(states[1].Spoilers) != 1 || states[1].Spoilers[0].Call != edit {
		t.Errorf("%+v\n%+v", states[0], states[1])
	}
	if d, _ := p.Decide(now, call(`edit {"path":"b"}`), nil); d.(*gate.Refusal).Blocks[0].Net != "stays" {
		t.Errorf("%+v", d)
	}
	now.Apply(p.Settle(now, edit, gate.Success))
	for i, state := range p.NetsOf(now) {
		if len(state.Spoilers)+len(state.Values)+len(state.InFlight) > 0 {
			t.Errorf("net %d still waits: %+v", i, state)
		}
	}
	pass(t, now, call(`edit {"path":["a","b"]}`))
}
