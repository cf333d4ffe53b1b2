package gate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// minuteNet is "limit post to 1 per minute for each channel".
func minuteNet() gate.Net {
	n := handNet("n", map[string]int{"budget": 1}, "do: budget -> spent | post", "back: spent -> budget [1m]")
	n.Key = []gate.Field{{Path: "channel"}}
	return n
}

// TestValuesAreFreed checks that values that the clock has reset make room for others, except for
// the call's own values.
func TestValuesAreFreed(t *testing.T) {
	sum := sumNet(1, time.Minute)
	sum.Name, sum.Key, sum.Sum.Field = "n", []gate.Field{{Path: "channel"}}, gate.Field{Path: "n"}
	sum.Transitions[1].Tools = gate.Tools("post")
	for _, n := range []gate.Net{minuteNet(), sum} {
		post := func(channel string, after time.Duration) gate.Call {
			return callAt(`post {"n":1,"channel":`+channel+`}`, noon.Add(after))
		}
		p := play(t, gate.PolicyOptions{Keys: 2}, n)
		p.allowCall(post("1", 0), nil)
		p.allowCall(post("2", 0), nil)
		p.Tick(noon.Add(time.Minute - 1))
		r := p.refuseCall(post("3", time.Minute-1), nil, gate.KindBlocked, "n")
		if want := "Net 'n' already keeps 2 values of channel and accepts no new one until a reset."; r.Text != want || r.Retry != 0 {
			t.Errorf("%s %v, want %s", r.Text, r.Retry, want)
		}
		if r, ok := p.Decide(post("[3,4,5]", time.Minute), nil).(*gate.Refusal); !ok || r.Kind != gate.KindBlocked {
			t.Error("three values are more than two")
		}
		p.allowCall(post("[1,3]", time.Minute), nil) // 2 is in the default state again, and so is 1
		p.refuseCall(post("4", time.Minute+1), nil, gate.KindBlocked, "n")
		p.allowCall(post("[4,5]", 2*time.Minute), nil)
		var kept []string
		for _, v := range p.Nets()[0].Values {
			kept = append(kept, v.Key[0].Value)
		}
		if slices.Sort(kept); !slices.Equal(kept, []string{"4", "5"}) {
			t.Errorf("kept %v", kept)
		}
	}
}

// contactsNet is "require contacts before send with same result as to".
func contactsNet() gate.Net {
	n := sequenceNet("contacts", "send")
	n.Key = []gate.Field{{Path: "to"}}
	n.Transitions[1].Key = []gate.Field{{Path: "$[*]", Result: true}}
	return n
}

// TestResultsBeyondTheBound checks that a result with too many values is evidence for none of them.
func TestResultsBeyondTheBound(t *testing.T) {
	p := play(t, gate.PolicyOptions{Keys: 2}, contactsNet())
	shows := func(result string) {
		t.Helper()
		if !p.allow("contacts").Ticket.End(gate.End{Outcome: gate.Success, Result: []byte(result)}) {
			t.Error("nothing waited")
		}
	}
	shows(`["a","b","c"]`)
	p.status("require-contacts-before-send (active): ready:1 for each to")
	shows(`["a"]`)
	shows(`["b","c"]`)
	p.status("require-contacts-before-send (active): ready:1 for each to; a: gate:1")
	shows(`["a","b"]`)
	p.status("require-contacts-before-send (active): ready:1 for each to; a: gate:1; b: gate:1")
}

// TestResultsReadInPart checks that an element without a value does not affect the other elements.
func TestResultsReadInPart(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, contactsNet())
	p.allow("contacts").Ticket.End(gate.End{Outcome: gate.Success, Result: []byte(`["a",null,{"name":"Eve"},"b"]`)})
	p.allow(`send {"to":["a","b"]}`)
	p.refuse(`send {"to":"c"}`, gate.KindBlocked, "require-contacts-before-send")
}

// TestResultsBeyondTheBoundEndWaits checks that values that wait for the call are settled
// nevertheless.
func TestResultsBeyondTheBoundEndWaits(t *testing.T) {
	n := handNet("n", map[string]int{"p": 1}, "do: p -> q [deferred] | contacts", "saw: p -> r [observe] [deferred] | contacts", "then: q -> p | send")
	n.Key = []gate.Field{{Path: "to"}}
	n.Transitions[1].Key = []gate.Field{{Path: "$[*]", Result: true}}
	p := play(t, gate.PolicyOptions{Keys: 1}, n)
	p.allow(`contacts {"to":"a"}`).Ticket.End(gate.End{Outcome: gate.Success, Result: []byte(`["a","b"]`)})
	p.status("n (active): p:1 for each to; a: q:1")
}

// TestValuesKeptForWatches checks that a value that was stored only for a call in flight makes room
// once that call has ended.
func TestValuesKeptForWatches(t *testing.T) {
	p := play(t, gate.PolicyOptions{Keys: 1}, contactsNet())
	first := p.allow("contacts").Ticket
	p.allow("contacts").Ticket.End(gate.End{Outcome: gate.Success, Result: []byte(`["a"]`)})
	p.success(`send {"to":"a"}`)
	if p.Snapshot().Nets[0].Values.Len() != 1 {
		t.Error("it is forgotten that the first call cannot count for a")
	}
	first.End(gate.End{Outcome: gate.Success, Result: []byte(`["b"]`)})
	p.status("require-contacts-before-send (active): ready:1 for each to; b: gate:1")
	p.success(`send {"to":"b"}`)
	p.status("require-contacts-before-send (active): ready:1 for each to")
}

// TestValueLimitInShadowMode checks that a net in shadow mode stores no more values than one that blocks.
func TestValueLimitInShadowMode(t *testing.T) {
	n := minuteNet()
	p := play(t, gate.PolicyOptions{Keys: 2}, shadow(n))
	for i := range 4 {
		want := ""
		if i >= 2 {
			want = "blocked n"
		}
		if got := p.would(fmt.Sprintf(`post {"channel":%d}`, i)); got != want {
			t.Errorf("%d: %q, want %q", i, got, want)
		}
	}
	if kept := p.Snapshot().Nets[0].Values.Len(); kept != 2 {
		t.Errorf("%d values are kept", kept)
	}
}

func TestNegativeKeys(t *testing.T) {
	_, err := gate.NewPolicy([]gate.Net{minuteNet()}, gate.PolicyOptions{Keys: -1})
	if err == nil || !strings.Contains(err.Error(), "a net with a key cannot keep -1 values") || !strings.Contains(err.Error(), "use 0 for the default of 10,000") {
		t.Error(err)
	}
}

// TestValueLimitOnReplay checks that if a net cannot store a value of a call that was made, the
// other nets still move.
func TestValueLimitOnReplay(t *testing.T) {
	other := limitNet("post", 3, "session")
	p := play(t, gate.PolicyOptions{Keys: 1}, minuteNet(), other)
	var entries []gate.Entry
	for i := range 3 {
		entries = append(entries, gate.Entry{Call: call(fmt.Sprintf(`post {"channel":%d}`, i)), Outcome: gate.Success})
	}
	p.Replay(entries)
	p.status("n (active): budget:1 for each channel; 0: spent:1", other.Name+" (active): ready:1")
}

// TestReplayOfNetsThatDoNotRest checks the same for a net that would not come to rest.
func TestReplayOfNetsThatDoNotRest(t *testing.T) {
	other := limitNet("x", 2, "session")
	p := play(t, gate.PolicyOptions{}, restless(""), other)
	before := p.Nets()[0].Marking.String()
	p.Replay([]gate.Entry{{Call: call("x"), Outcome: gate.Success}})
	if after := p.Nets(); after[0].Marking.String() != before || after[1].Marking.String() != "ready:1, budget:1" {
		t.Errorf("%s and %s", after[0].Marking, after[1].Marking)
	}
}

// TestValueLimitAfterClockResets checks that values that the clock has reset make room for those in a result.
func TestValueLimitAfterClockResets(t *testing.T) {
	n := handNet("n", map[string]int{"p": 1}, "saw: p -> q [observe] [deferred] | contacts", "then: q -> p | send", "forget: q -> p [1m]")
	n.Key = []gate.Field{{Path: "to"}}
	n.Transitions[0].Key = []gate.Field{{Path: "$[*]", Result: true}}
	p := play(t, gate.PolicyOptions{Keys: 2}, n)
	shows := func(result string, after time.Duration) {
		ticket := p.allowCall(callAt("contacts", noon.Add(after)), nil).Ticket
		ticket.End(gate.End{Outcome: gate.Success, Result: []byte(result), Time: noon.Add(after)})
	}
	shows(`["a","b"]`, 0)
	shows(`["c","d"]`, time.Minute-1)
	shows(`["c","d"]`, time.Minute)
	var kept []string
	for _, v := range p.Nets()[0].Values {
		kept = append(kept, v.Key[0].Value)
	}
	if !slices.Equal(kept, []string{`"c"`, `"d"`}) {
		t.Errorf("kept %v", kept)
	}
}

// TestValueLimitBelowStoredValues checks that a policy with a smaller limit adds no values to a
// state that exceeds it.
func TestValueLimitBelowStoredValues(t *testing.T) {
	policy := func(keys int) *gate.Policy {
		p, err := gate.NewPolicy([]gate.Net{minuteNet()}, gate.PolicyOptions{Keys: keys})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	s := policy(4).NewState(nil)
	pass(t, s, call(`post {"channel":[1,2,3,4]}`))
	now, _ := policy(2).Adopt(s, gate.AdoptOptions{})
	d, _ := now.Policy().Decide(now, call(`post {"channel":[5,6]}`), nil)
	if r, ok := d.(*gate.Refusal); !ok || len(r.Blocks) != 1 {
		t.Errorf("%+v", d)
	}
}
