package gate_test

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
)

// atOnceNet is "limit tool to n at once".
func atOnceNet(tool string, n int) gate.Net {
	return ruleNet("at-once", gate.CauseLimit, tool+" can run once at a time.", map[string]int{"budget": n},
		gate.Transition{Name: "do-" + tool, Inputs: []string{"budget"}, Outputs: []string{"budget"}, Tools: gate.Tools(tool), Deferred: true})
}

func TestAtOnce(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, atOnceNet("deploy", 2))
	for _, end := range []gate.Outcome{gate.Success, gate.Failure} {
		one := p.allowCall(gate.Call{ID: "one", Tool: "deploy"}, nil).Ticket
		two := p.allowCall(gate.Call{ID: "two", Tool: "deploy"}, nil).Ticket
		one.Settle(gate.Unknown) // it might still be running
		r := p.refuse("deploy", gate.KindBlocked, "at-once")
		if h := r.Blocks[0].Holds; len(h) != 2 || h[0].ID != "one" || h[1].ID != "two" || !strings.Contains(r.Text, "Call 1 of deploy has not ended and holds what this call needs.") && end == gate.Success {
			t.Errorf("%+v: %s", h, r.Text)
		}
		one.Settle(end)
		three := p.allow("deploy").Ticket
		p.refuse("deploy", gate.KindBlocked, "at-once")
		two.Settle(end)
		three.Settle(end)
		p.status("at-once (active): ready:1, budget:2")
	}
}

// TestMapsOverGlobs checks that a map over a pattern of tools applies to every matching physical
// name, and that its names are as certain as that name.
func TestMapsOverGlobs(t *testing.T) {
	env := gate.Map{Tool: "*_file", Glob: true, Field: "path", As: "secret", Match: contains(".env"), Source: ".env"}
	ls := gate.Map{Tool: "s*", Glob: true, Field: "c", As: "look", Reader: &commands{words: []string{"ls"}}, Source: "ls"}
	also := gate.Map{Tool: "sh", Field: "d", As: "look", Reader: &commands{words: []string{"ls"}}, Source: "ls"}
	n := blockNet("secret")
	n.Transitions = append(n.Transitions, gate.Transition{Name: "do-sh", Inputs: []string{"locked"}, Outputs: []string{"locked"}, Tools: gate.Tools("sh"), Unless: gate.Tools("look")})
	n.Labels.Maps = []gate.Map{env, also, ls, {Tool: "read_file", Field: "path", As: "first", Match: contains("a")}}
	p := play(t, gate.PolicyOptions{}, n)
	p.refuse(`read_file {"path":".env"}`, gate.KindBlocked, n.Name)
	p.refuse(`write_file {"path":".env"}`, gate.KindBlocked, n.Name)
	p.success(`read_file {"path":"a"}`)
	p.success(`read {"path":".env"}`)
	exposed := call(`x {"path":".env"}`)
	exposed.Also = []gate.Name{{Text: "fs.read_file", Certain: true}}
	p.refuseCall(exposed, nil, gate.KindBlocked, n.Name)
	p.success(`sh {"c":"ls"}`)
	p.success(`sh {"d":"ls"}`)
	p.refuse(`sh {"c":"ls","d":"ls"}`, gate.KindBlocked, n.Name) // it acts on both
	p.refuse(`sh {"c":"rm"}`, gate.KindBlocked, n.Name)
	foreign := call(`sh {"c":"ls"}`)
	foreign.Foreign = true
	p.refuseCall(foreign, nil, gate.KindBlocked, n.Name)
	want := "read_file first secret"
	var got []string
	for _, name := range p.Session.Snapshot().Policy().Names(call(`read_file {"path":"a.env"}`)) {
		got = append(got, name.Text)
	}
	if strings.Join(got, " ") != "read_file secret first" {
		t.Errorf("%v, want %s", got, want)
	}
	// A net with its own maps reads both fields as well.
	own := handNet("own", nil, "t: locked -> locked | secret")
	own.Maps = []gate.Map{env}
	p = play(t, gate.PolicyOptions{}, own)
	p.refuse(`read_file {"path":".env"}`, gate.KindBlocked, "own")
}
