package gate_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// TestKeyCombinations checks that two lists have all combinations of their elements as values.
func TestKeyCombinations(t *testing.T) {
	n := limitNet("copy", 1, "session")
	n.Key = []gate.Field{{Path: "from"}, {Path: "to"}}
	p := play(t, gate.PolicyOptions{}, n)
	list := func(length int) string {
		all := make([]int, length)
		for i := range all {
			all[i] = i
		}
		text, _ := json.Marshal(all)
		return string(text)
	}
	r := p.refuse(`copy {"from":`+list(40)+`,"to":`+list(26)+`}`, gate.KindBlocked, n.Name)
	if want := "copy needs a value in `to`: the call has more than 1000."; r.Text != want {
		t.Errorf("%s, want %s", r.Text, want)
	}
	p.success(`copy {"from":` + list(40) + `,"to":` + list(25) + `}`)
	if kept := p.Snapshot().Nets[0].Values.Len(); kept != 1000 {
		t.Errorf("%d values", kept)
	}
	p.refuse(`copy {"from":39,"to":24}`, gate.KindBlocked, n.Name)
	p.success(`copy {"from":39,"to":25}`)
}

// TestLongKeys checks that status and refusals show only the beginning of a long value, but
// decisions use the whole value.
func TestLongKeys(t *testing.T) {
	long := strings.Repeat("x", 300)
	p := play(t, gate.PolicyOptions{}, sameNet("backup", "delete", "path"))
	p.success(`backup {"path":"` + long + `"}`)
	p.status("require-backup-before-delete (active): ready:1 for each path; " + `"` + strings.Repeat("x", 59) + `…": gate:1`)
	r := p.refuse(`delete {"path":"`+long+`y"}`, gate.KindBlocked, "require-backup-before-delete")
	if shown := `"` + strings.Repeat("x", 64) + `…"`; r.Text != "delete "+shown+" requires a successful backup of "+shown+" first." || r.Blocks[0].Key[0].Value != `"`+long+`y"` {
		t.Errorf("%s %v", r.Text, r.Blocks[0].Key)
	}
	p.success(`delete {"path":"` + long + `"}`)

	pair := sameNet("copy", "delete", "from")
	pair.Key = append(pair.Key, gate.Field{Path: "to"})
	p = play(t, gate.PolicyOptions{}, pair)
	p.success(`copy {"from":"` + long + `","to":1}`)
	if v := p.Nets()[0].Values[0]; len(v.Key) != 1 || v.Key[0].Field != "from, to" {
		t.Errorf("%v", v.Key)
	}
	p.refuse(`delete {"from":"`+long+`","to":2}`, gate.KindBlocked, pair.Name)
	p.success(`delete {"from":"` + long + `","to":1}`)
}

// TestLeftForValues checks that the remaining calls of a limit are those of the verdict's value.
func TestLeftForValues(t *testing.T) {
	n := limitNet("post", 3, "session")
	n.Key = []gate.Field{{Path: "channel"}, {Path: "kind"}}
	p := play(t, gate.PolicyOptions{}, n)
	p.success(`post {"channel":"a","kind":1}`)
	p.success(`post {"channel":"a","kind":1}`)
	for _, c := range []struct {
		args string
		want int
	}{{`{"channel":"a","kind":1}`, 1}, {`{"channel":"a","kind":2}`, 3}} {
		v := p.Classify(call("post " + c.args))[0]
		if got, ok := p.Left(v); !ok || got != c.want || len(v.Key) != 2 {
			t.Errorf("%s: %d %v, want %d (%v)", c.args, got, ok, c.want, v.Key)
		}
	}
	if got, ok := p.Left(gate.Verdict{Net: n.Name, Transition: "do-post"}); !ok || got != 3 {
		t.Errorf("for a value of which nothing is kept: %d %v", got, ok)
	}
}

// TestWorstVerdict checks that, for several values, the net's verdict is the strongest one.
func TestWorstVerdict(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, sameNet("backup", "delete", "path"))
	p.success(`backup {"path":["a","b"]}`)
	p.success(`delete {"path":"b"}`)
	for _, args := range []string{`{"path":["a","b"]}`, `{"path":["b","a"]}`} {
		vs := p.Classify(call("delete " + args))
		if len(vs) != 1 || vs[0].Kind != gate.Blocked || vs[0].Key[0].Value != `"b"` {
			t.Errorf("%s: %+v", args, vs)
		}
	}
}

// TestManyValuesBlock checks that a refusal lists ten values and counts the others.
func TestManyValuesBlock(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, sameNet("backup", "delete", "path"), blockNet("other"))
	var nets []string
	for range 10 {
		nets = append(nets, "require-backup-before-delete")
	}
	r := p.refuse(`delete {"path":[1,2,3,4,5,6,7,8,9,10,11,12]}`, gate.KindBlocked, nets...)
	if !strings.HasSuffix(r.Text, " delete 10 requires a successful backup of 10 first. The same applies to 2 more values.") || strings.Contains(r.Text, "11") || r.Blocks[9].More != 2 || r.Blocks[8].More != 0 {
		t.Errorf("%s: %+v", r.Text, r.Blocks)
	}
}

// TestKeysWithoutNames checks that a net that cannot name a call blocks it for all values, because
// any value may apply.
func TestKeysWithoutNames(t *testing.T) {
	n := handNet("n", map[string]int{"ready": 1}, "do: ready -> gate [observe] [deferred] | test", "then: gate -> ready | push", "spoil: gate -> ready [observe] [spoils] | edit")
	n.Key = []gate.Field{{Path: "path"}}
	n.Mapper = func(c gate.Call) []gate.Name {
		if c.Tool == "odd" {
			panic("odd")
		}
		return []gate.Name{{Text: c.Tool, Certain: true}}
	}
	p := play(t, gate.PolicyOptions{}, n)
	p.success(`test {"path":["a","b"]}`)
	if r := p.refuse(`odd {"path":"a"}`, gate.KindBlocked, "n"); r.Text != "Net 'n' cannot judge the call because its mapper failed." {
		t.Error(r.Text)
	}
	p.status("n (active): ready:1 for each path; a: gate:1; b: gate:1")
	p = play(t, gate.PolicyOptions{}, shadow(n))
	p.success(`test {"path":["a","b"]}`)
	p.script(`odd {"path":"a"} -> blocked n`)
	p.status("n (active, shadow): ready:1; enforced: ready:1 for each path; a: ready:1; enforced: gate:1; b: ready:1; enforced: gate:1")
	p.Reset()
	_ = p.Deactivate("n")
	odd := p.allow(`odd {"path":"a"}`).Ticket
	_ = p.Activate("n")
	p.success(`test {"path":"a"}`)
	p.script(`push {"path":"a"} -> blocked n`)
	odd.Settle(gate.Success)
	p.success(`test {"path":"a"}`)
	p.script(`push {"path":"a"} -> `)
}

// TestTwoNamesOneWatch checks that a call with two evidence names counts as evidence only once.
func TestTwoNamesOneWatch(t *testing.T) {
	n := twoNames(handNet("n", map[string]int{"p": 2}, "saw: p -> q [observe] [deferred] | a b", "then: q -> p | send"), "a", "b")
	n.Key = []gate.Field{{Path: "to"}}
	n.Transitions[0].Key = []gate.Field{{Path: "$[*]", Result: true}}
	p := play(t, gate.PolicyOptions{}, n)
	p.allow("x").Ticket.End(gate.End{Outcome: gate.Success, Result: []byte(`["ann"]`)})
	p.status("n (active): p:2 for each to; ann: p:1, q:1")
}

// TestOffersWithKeys checks that a tool is hidden if every stored value, and the default state,
// blocks it at that time.
func TestOffersWithKeys(t *testing.T) {
	n := handNet("n", map[string]int{"locked": 1}, "unlock: locked -> soon [observe] | unlock", "wait: soon -> open [1m]", "do: open -> locked | send")
	n.Key = []gate.Field{{Path: "to"}}
	for _, net := range []gate.Net{n, func() gate.Net { n := n; n.Labels = &gate.Labels{}; return n }()} {
		p := newPolicy(t, net)
		s := p.NewState(nil)
		tools := []gate.Call{{Tool: "send"}, {Tool: "other"}}
		offered := func(after time.Duration, want ...string) {
			t.Helper()
			if got := p.Advertise(s, tools, noon.Add(after)).Tools; !slices.Equal(got, want) {
				t.Errorf("after %v: %v, want %v", after, got, want)
			}
		}
		offered(0, "other")
		pass(t, s, callAt(`unlock {"to":["a","b","c"]}`, noon))
		offered(0, "other")
		offered(time.Minute, "send", "other")
		s.Apply(p.Tick(s, noon.Add(time.Minute)))
		offered(time.Minute, "send", "other")
		pass(t, s, callAt(`send {"to":["a","b","c"]}`, noon.Add(time.Minute)))
		offered(2*time.Minute, "other")
	}
	// Equal states are checked once.
	plain := sameNet("backup", "delete", "path")
	p := play(t, gate.PolicyOptions{}, plain)
	p.Offer([]gate.Call{{Tool: "delete"}})
	if got := p.Advertise(noon).Tools; got != nil {
		t.Errorf("%v", got)
	}
	p.success(`backup {"path":"c"}`)
	if got := p.Advertise(noon).Tools; !slices.Equal(got, []string{"delete"}) {
		t.Errorf("%v", got)
	}
	blocked := limitNet("post", 1, "session")
	blocked.Key = []gate.Field{{Path: "channel"}}
	blocked.Initial["budget"] = 0
	blocked.Transitions = append(blocked.Transitions, gate.Transition{Name: "refill", Outputs: []string{"spent"}, Tools: gate.Tools("refill"), Observe: true})
	blocked.Places, blocked.AllowUnbounded = append(blocked.Places, "spent"), true
	p = play(t, gate.PolicyOptions{}, blocked)
	p.Offer([]gate.Call{{Tool: "post"}})
	for i := range 3 {
		p.success(fmt.Sprintf(`refill {"channel":%d}`, i))
	}
	if got := p.Advertise(noon).Tools; got != nil {
		t.Errorf("%v", got)
	}
}

// TestNextOfValues checks that the status contains the next tick of a value.
func TestNextOfValues(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, minuteNet())
	p.allowCall(callAt(`post {"channel":"a"}`, noon), nil)
	p.status("n (active): budget:1 for each channel; a: spent:1; next at " + noon.Add(time.Minute).UTC().Format(time.RFC3339))
	p = play(t, gate.PolicyOptions{}, shadow(minuteNet()))
	p.allowCall(callAt(`post {"channel":"a"}`, noon), nil)
	p.status("n (active, shadow): budget:1; enforced: budget:1 for each channel; a: spent:1; enforced: spent:1; next at " + noon.Add(time.Minute).UTC().Format(time.RFC3339))
	p.Tick(noon.Add(time.Minute))
	p.status("n (active, shadow): budget:1; enforced: budget:1 for each channel")
}

// TestManyDifferentStates checks that states are correct whether or not equal ones share memory.
func TestManyDifferentStates(t *testing.T) {
	n := handNet("n", nil, "add: -> sum | add")
	n.AllowUnbounded, n.Key = true, []gate.Field{{Path: "k"}}
	p := play(t, gate.PolicyOptions{}, n)
	const count = 1200
	for round := range 2 {
		for i := range count {
			if round == 0 || i == 1 {
				for range 1 + i*round {
					p.success(fmt.Sprintf(`add {"k":%d}`, i))
				}
			}
		}
	}
	// One value passes through more states than the pool holds.
	for range count {
		p.success(`add {"k":"walk"}`)
	}
	p.success(`add {"k":2}`)
	values := p.Snapshot().Nets[0].Values
	for key, want := range map[string]int{`"walk"`: count, "0": 1, "1": 3, "2": 2, "1199": 1} {
		if got := values.Get(key); got == nil || got.Marking[0] != want {
			t.Errorf("%s: %+v, want %d", key, got, want)
		}
	}
}

// TestManyKeyedNets decides calls with more keyed nets than the preallocated space holds, one call
// after another in the same space.
func TestManyKeyedNets(t *testing.T) {
	var nets []gate.Net
	for i := range 9 {
		nets = append(nets, sameNet(fmt.Sprint("check", i), "delete", "path"))
	}
	p := play(t, gate.PolicyOptions{}, nets...)
	prepared := &gate.Prepared{}
	for _, path := range []string{"a", "b", "a"} {
		p.success(`check3 {"path":"` + path + `"}`)
		r := p.refuse(`delete {"path":"`+path+`"}`, gate.KindBlocked, "require-check0-before-delete", "require-check1-before-delete", "require-check2-before-delete",
			"require-check4-before-delete", "require-check5-before-delete", "require-check6-before-delete", "require-check7-before-delete", "require-check8-before-delete")
		for _, b := range r.Blocks {
			if len(b.Key) != 1 || b.Key[0] != (gate.KeyValue{Field: "path", Value: `"` + path + `"`}) {
				t.Errorf("%+v", b)
			}
		}
		state := p.Snapshot()
		c := gate.Call{Tool: "delete", Args: []byte(`{"path":"` + path + `"}`)}
		prepared.Reset(state.Policy(), &c)
		if d, _ := prepared.Decide(state, nil); !reflect.DeepEqual(d, gate.Decision(r)) {
			t.Errorf("%+v, want %+v", d, r)
		}
		c = gate.Call{Tool: "free"}
		prepared.Reset(state.Policy(), &c)
		if _, ok := first(prepared.Decide(state, nil)).(*gate.Allow); !ok {
			t.Error("the call before is still there")
		}
	}
}

// TestValueThatDoesNotRest checks that a net that does not come to rest for one value blocks only
// that value.
func TestValueThatDoesNotRest(t *testing.T) {
	n := restless("[deferred]")
	n.Key = []gate.Field{{Path: "path"}}
	p := play(t, gate.PolicyOptions{}, n)
	p.success(`x {"path":"a"}`)
	if r := p.refuse(`x {"path":"a"}`, gate.KindBlocked, "n"); r.Text != "Net 'n' never settles: its transitions without tools keep firing." {
		t.Error(r.Text)
	}
	p.success(`x {"path":"b"}`)
}
