package gate_test

import (
	"bytes"
	"testing"

	"github.com/petrigate/petrigate/gate"
)

// saysOK is a judge that accepts a result as a success if the result or its text is "ok".
type saysOK struct{}

func (saysOK) Holds(_ *gate.Call, value []byte, text string, number int) bool {
	if number != 7 {
		panic("no such condition")
	}
	return bytes.Equal(value, []byte(`"ok"`)) || text == "ok"
}

func TestConditions(t *testing.T) {
	build := func(conditions ...gate.Condition) *gate.Policy {
		p, err := gate.NewPolicy(nil, gate.PolicyOptions{Labels: []*gate.Labels{{Successes: conditions}}})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := build(
		gate.Condition{Tool: "bash", Source: "ok", Judge: saysOK{}, Number: 7},
		gate.Condition{Tool: "sh*", Glob: true, Source: "ok", Judge: saysOK{}, Number: 7},
		gate.Condition{Tool: "broken", Source: "panics", Judge: saysOK{}},
	)
	ok := gate.End{Outcome: gate.Success, Result: []byte(`"ok"`)}
	for _, c := range []struct {
		call   gate.Call
		end    gate.End
		want   gate.Outcome
		source string // the violated condition
	}{
		{gate.Call{Tool: "bash"}, ok, gate.Success, ""},
		{gate.Call{Tool: "bash"}, gate.End{Outcome: gate.Success, Text: "ok"}, gate.Success, ""},
		{gate.Call{Tool: "bash"}, gate.End{Outcome: gate.Success}, gate.Failure, "ok"},
		{gate.Call{Tool: "bash"}, gate.End{Outcome: gate.Unknown}, gate.Unknown, ""},
		{gate.Call{Tool: "bash"}, gate.End{Outcome: gate.Failure}, gate.Failure, ""},
		{gate.Call{Tool: "shell"}, gate.End{Outcome: gate.Success}, gate.Failure, "ok"},
		{gate.Call{Tool: "mcp__x__run", Also: []gate.Name{{Text: "x.run"}, {Text: "shell", Weak: true}}}, gate.End{Outcome: gate.Success}, gate.Failure, "ok"},
		{gate.Call{Tool: "other"}, gate.End{Outcome: gate.Success}, gate.Success, ""},
		{gate.Call{Tool: "broken"}, ok, gate.Failure, "panics"},
	} {
		got, broken := p.Judged(&c.call, c.end)
		source := ""
		if broken != nil {
			source = broken.Source
		}
		if got.Outcome != c.want || source != c.source {
			t.Errorf("%v %v: %v by %q, want %v by %q", c.call, c.end, got.Outcome, source, c.want, c.source)
		}
	}
	without := build()
	if !p.JudgesResults() || !p.ReadsResults() || without.JudgesResults() || without.ReadsResults() {
		t.Error("a policy reads results exactly if it has conditions on them")
	}
	if p.Fingerprint() == without.Fingerprint() {
		t.Error("the conditions are not part of the fingerprint")
	}
}

// TestBrokenConditionIsSaid checks that a refusal for lack of evidence names the condition that the
// last result violated, until a call counts. The same holds for each key value.
func TestBrokenConditionIsSaid(t *testing.T) {
	words := &commands{words: []string{"ls", "cat", "rm"}}
	l := &gate.Labels{Maps: shellMaps(words), Successes: []gate.Condition{{Tool: "sh", Source: "ok", Judge: saysOK{}, Number: 7}}}
	for _, key := range [][]gate.Field{nil, {{Path: "p"}}} {
		net := sequenceNet("read", "deploy")
		net.Reason = "deploy requires read."
		net.Key = key
		policy, err := gate.NewPolicy([]gate.Net{net}, gate.PolicyOptions{Labels: []*gate.Labels{l}})
		if err != nil {
			t.Fatal(err)
		}
		p := &player{t, gate.NewSession(policy, gate.SessionOptions{})}
		returns := func(text string) {
			t.Helper()
			c := call(`sh {"c":"ls","p":1}`)
			e, _ := policy.Judged(&c, gate.End{Outcome: gate.Success, Text: text})
			p.allowCall(c, nil).Ticket.End(e)
		}
		refused := func(want string) {
			t.Helper()
			if r := p.refuse(`deploy {"p":1}`, gate.KindBlocked, "require-read-before-deploy"); r.Text != want {
				t.Errorf("%q, want %q", r.Text, want)
			}
		}
		returns("exit code 3")
		refused("deploy requires read. A call did not count as read: its result fails the condition `success sh when \"ok\"`.")
		returns("ok")
		p.allow(`deploy {"p":1}`)
		refused("deploy requires read.")
	}
}
