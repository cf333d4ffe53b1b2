package gate_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// sameNet is sequenceNet with a key.
func sameNet(before, after, field string) gate.Net {
	n := sequenceNet(before, after)
	n.Key = []gate.Field{{Path: field}}
	n.Reason = after + " {key} requires a successful " + before + " of {key} first."
	return n
}

// values is a reader for whole arguments. Expression 1 has no value; higher numbers panic.
type values struct{}

func (*values) Value(c *gate.Call, number int) ([]byte, bool) {
	if number > 1 {
		panic("beyond me")
	}
	return c.Args, number == 0
}

func TestKeySeparatesValues(t *testing.T) {
	n := sameNet("backup", "delete", "path")
	p := play(t, gate.PolicyOptions{}, n)
	p.success(`backup {"path":"notes.txt"}`)
	r := p.refuse(`delete {"path":"prod.db"}`, gate.KindBlocked, n.Name)
	if r.Text != "delete prod.db requires a successful backup of prod.db first." || r.Blocks[0].Key[0] != (gate.KeyValue{Field: "path", Value: `"prod.db"`}) {
		t.Errorf("%s %v", r.Text, r.Blocks)
	}
	p.status(n.Name + " (active): ready:1 for each path; notes.txt: gate:1")
	p.success(`delete {"path":"notes.txt"}`)
	p.status(n.Name + " (active): ready:1 for each path")
	p.success(`backup {"path":["a","b"]}`)
	p.refuse(`delete {"path":["a","c"]}`, gate.KindBlocked, n.Name)
	p.success(`delete {"path":["b","a"]}`)
}

// TestKeyValues determines a call's value from the calls that it unlocks.
func TestKeyValues(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, c := range []struct{ made, wanted string }{
		{`{"path":1}`, `{"path":1.0}`}, {`{"path":100}`, `{"path":1e2}`}, {`{"path":-0}`, `{"path":0.0e5}`},
		{`{"path":1e-30}`, `{"path":0.1e-29}`}, {`{"path":1.50}`, `{"path":15e-1}`}, {`{"path":0.05}`, `{"path":5E-2}`},
		{`{"path":1e30}`, `{"path":10e29}`}, {`{"path":true}`, `{"path":[true]}`}, {`{"path":"\u0061/"}`, `{"path":"a\/"}`},
		{`{"path":"` + long + `"}`, `{"path":["` + long + `"]}`},
	} {
		p := play(t, gate.PolicyOptions{}, sameNet("backup", "delete", "path"))
		p.success("backup " + c.made)
		p.success("delete " + c.wanted)
	}
	for _, c := range []struct{ made, wanted string }{
		{`{"path":1}`, `{"path":"1"}`}, {`{"path":true}`, `{"path":"true"}`}, {`{"path":10}`, `{"path":1}`}, {`{"path":-1}`, `{"path":1}`},
		{`{"path":"` + long + `"}`, `{"path":"` + long + `x"}`}, {`{"path":"a"}`, `{"path":"A"}`},
		{`{"path":"a","Path":"a"}`, `{"path":"a"}`}, {`{"path":9007199254740993}`, `{"path":9007199254740992}`},
	} {
		p := play(t, gate.PolicyOptions{}, sameNet("backup", "delete", "path"))
		p.success("backup " + c.made)
		p.refuse("delete "+c.wanted, gate.KindBlocked, "require-backup-before-delete")
	}
}

func TestNoValue(t *testing.T) {
	const scalar = "it must be a string, a number, true or false, or a list of those."
	many := make([]int, 1001)
	for i := range many {
		many[i] = i
	}
	text, _ := json.Marshal(map[string]any{"path": many})
	for args, why := range map[string]string{
		`{}`: "the call has no such value.", ``: "the call has no such value.", `{"path":null}`: scalar, `{"path":{}}`: scalar, `{"path":[["a"]]}`: scalar,
		`{"path":"\ud800"}`: scalar, `{"path":1e9999999999}`: scalar, `{"path":[]}`: "the list is empty.",
		`{"path":"a","PATH":1}`: "another key of the call differs from it only in letter case.",
		string(text):            "the call has more than 1000.",
	} {
		p := play(t, gate.PolicyOptions{}, sameNet("backup", "delete", "path"))
		p.success("backup " + args)
		p.status("require-backup-before-delete (active): ready:1 for each path")
		if r := p.refuse("delete "+args, gate.KindBlocked, "require-backup-before-delete"); r.Text != "delete needs a value in `path`: "+why || r.Blocks[0].Key != nil {
			t.Errorf("%.60s: %s", args, r.Text)
		}
	}
}

func TestKeyOfExpressions(t *testing.T) {
	n := sameNet("backup", "delete", "path")
	for number, want := range []string{"", "delete needs a value in `whole`: the expression has no value for this call.", "delete needs a value in `whole`: the expression has no value for this call."} {
		n.Key = []gate.Field{{Reader: &values{}, Number: number, Source: "whole"}}
		p := play(t, gate.PolicyOptions{}, n)
		p.success(`backup "x"`)
		if want == "" {
			p.success(`delete "x"`)
			continue
		}
		if r := p.refuse(`delete "x"`, gate.KindBlocked, n.Name); r.Text != want {
			t.Error(r.Text)
		}
	}
}

func TestKeyOfTwoFields(t *testing.T) {
	n := sameNet("backup", "delete", "path")
	n.Key = []gate.Field{{Path: "$.at.host"}, {Path: "$.files[*].name"}}
	p := play(t, gate.PolicyOptions{}, n)
	p.success(`backup {"at":{"host":["h","i"]},"files":[{"name":"a"},{"name":"b"}]}`)
	p.success(`delete {"at":{"host":"i"},"files":[{"name":"b"}]}`)
	r := p.refuse(`delete {"at":{"host":"i"},"files":[{"name":"b"}]}`, gate.KindBlocked, n.Name)
	if want := "delete i, b requires a successful backup of i, b first."; r.Text != want {
		t.Errorf("%s, want %s", r.Text, want)
	}
	p.refuse(`delete {"at":{"host":"i"},"files":[{"name":"b"},{}]}`, gate.KindBlocked, n.Name)
	p.refuse(`delete {"at":"i","files":[]}`, gate.KindBlocked, n.Name)
	p.status(n.Name + ` (active): ready:1 for each $.at.host, $.files[*].name; h, a: gate:1; h, b: gate:1; i, a: gate:1`)
}

func TestKeyFromResult(t *testing.T) {
	n := sameNet("contacts", "send", "to")
	n.Transitions[1].Key = []gate.Field{{Path: "$.people[*].email", Result: true}}
	p := play(t, gate.PolicyOptions{}, n)
	if !p.Snapshot().Policy().ReadsResults() {
		t.Error("results do not matter")
	}
	a := p.allow(`contacts {}`)
	if !a.Ticket.Awaited {
		t.Error("nothing waits for the result")
	}
	a.Ticket.End(gate.End{Outcome: gate.Success, Result: []byte(`{"people":[{"email":"a@x"},{"email":"b@x"}]}`)})
	p.success(`send {"to":"b@x"}`)
	p.refuse(`send {"to":"c@x"}`, gate.KindBlocked, n.Name)
	for _, result := range []string{"", "{", `{"people":[{"email":"c@x"}],"people":[]}`, strings.Repeat(" ", 1<<20) + "{}"} {
		p.allow(`contacts {}`).Ticket.End(gate.End{Outcome: gate.Success, Result: []byte(result)})
	}
	p.allow(`contacts {}`).Ticket.End(gate.End{Outcome: gate.Failure, Result: []byte(`{"people":[{"email":"c@x"}]}`)})
	p.status(n.Name + " (active): ready:1 for each to; a@x: gate:1")
}

func TestManyKeys(t *testing.T) {
	n := limitNet("post", 2, "session")
	n.Key = []gate.Field{{Path: "channel"}}
	p := play(t, gate.PolicyOptions{Keys: 12}, n)
	for i := range 12 {
		p.success(fmt.Sprintf(`post {"channel":%d}`, i))
	}
	p.success(`post {"channel":11}`)
	r := p.refuse(`post {"channel":12}`, gate.KindBlocked, n.Name)
	if want := "Net 'limit-post-2' already keeps 12 values of channel and accepts no new one until a reset."; r.Text != want {
		t.Errorf("%s, want %s", r.Text, want)
	}
	p.status(n.Name + " (active): ready:1, budget:2 for each channel; 11: ready:1; 0: ready:1, budget:1; 1: ready:1, budget:1; 10: ready:1, budget:1; " +
		"2: ready:1, budget:1; 3: ready:1, budget:1; 4: ready:1, budget:1; 5: ready:1, budget:1; 6: ready:1, budget:1; 7: ready:1, budget:1; and 2 more")
}

// TestKeyMemory limits the memory per key value.
func TestKeyMemory(t *testing.T) {
	const count = 10_000
	clocked := limitNet("post", 3, "session")
	clocked.Transitions = append(clocked.Transitions, gate.Transition{Name: "tick", Inputs: nil, Outputs: nil, Every: time.Hour})
	sum := limitNet("post", 3, "session")
	sum.Transitions[1].Inputs = []string{"ready"}
	sum.Sum = &gate.Sum{Field: gate.Field{Path: "amount"}, Most: 1000, Every: 24 * time.Hour}
	for _, n := range []gate.Net{limitNet("post", 3, "session"), clocked, sum} {
		n.Key = []gate.Field{{Path: "channel"}}
		p, err := gate.NewPolicy([]gate.Net{n}, gate.PolicyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s := gate.NewSession(p, gate.SessionOptions{})
		before := heap()
		for i := range count {
			c := gate.Call{Tool: "post", Args: fmt.Appendf(nil, `{"channel":"channel-%05d","amount":%d.25}`, i, i%700), Time: time.Unix(int64(i), 0)}
			if a, ok := s.Decide(c, nil).(*gate.Allow); !ok || !a.Ticket.Settle(gate.Success) {
				t.Fatalf("%+v", s.Decide(c, nil))
			}
		}
		each := (heap() - before) / count
		t.Logf("%d bytes each, with a clock: %t, with a sum: %t", each, len(n.Transitions) > 2, n.Sum != nil)
		if each > 200 {
			t.Errorf("%d bytes each", each)
		}
		runtime.KeepAlive(s)
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
