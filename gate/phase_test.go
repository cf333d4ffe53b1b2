package gate_test

import (
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// workflow is a net with an allowlist for each place except done.
func workflow() gate.Net {
	n := handNet("workflow", map[string]int{"planning": 1}, "go: planning -> acting [deferred] | start", "end: acting -> done | stop", "sit: done -> done | rest")
	n.Phases = []gate.Phase{
		{Place: "planning", Tools: []gate.Tool{{Name: "read_*", Kind: gate.Glob}, {Name: "start"}}},
		{Place: "acting", Tools: gate.Tools("edit", "stop")},
	}
	return n
}

func TestPhases(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, workflow())
	p.success("read_file")
	r := p.refuse("edit", gate.KindBlocked, "workflow")
	if want := "edit cannot be called while net 'workflow' is in planning: only read_*, start can."; r.Text != want || r.Blocks[0].Name != "edit" {
		t.Errorf("%s\nwant %s", r.Text, want)
	}
	start := p.allow("start").Ticket
	p.refuse("edit", gate.KindBlocked, "workflow") // the token counts in the place that it came from
	p.allow("read_more")
	p.refuse("start", gate.KindBlocked, "workflow")
	start.Settle(gate.Success)
	p.refuse("read_file", gate.KindBlocked, "workflow")
	p.success("edit")
	p.success("stop")
	p.success("read_file")
	p.success("anything")
}

func TestPhasesAndTheDefault(t *testing.T) {
	n := workflow()
	p := play(t, gate.PolicyOptions{Deny: true}, n)
	p.success("read_file")
	p.refuse("edit", gate.KindBlocked, "workflow")
	p.success("start")
	p.success("edit")
	p.success("stop")
	p.success("edit") // known because a past phase lists it
	p.refuse("other", gate.KindDefault)

	n.Phases = []gate.Phase{{Place: "planning"}}
	p = play(t, gate.PolicyOptions{}, n)
	if r := p.refuse("read_file", gate.KindBlocked, "workflow"); r.Text != "read_file cannot be called while net 'workflow' is in planning: no tool can." {
		t.Error(r.Text)
	}
}

// TestCertainNamesInPhases checks that an uncertain name is not enough.
func TestCertainNamesInPhases(t *testing.T) {
	n := ruleNet("n", gate.CauseNet, "", nil)
	n.Phases = []gate.Phase{{Place: "ready", Tools: []gate.Tool{{Name: "look"}, {Name: "chat.read"}, {Name: "mail.r*", Kind: gate.Glob}, {Name: "odd.name", Kind: gate.Literal}}}}
	n.Labels.Maps = []gate.Map{
		{Tool: "sh", Field: "c", As: "look", Reader: &commands{words: []string{"ls"}}, Source: "ls"},
		{Tool: "bash", Field: "c", As: "look", Match: contains("ls"), Source: "ls"},
	}
	p := play(t, gate.PolicyOptions{Deny: true}, n)
	p.success(`sh {"c":"ls"}`)
	p.refuse(`sh {"c":"ls; ?"}`, gate.KindBlocked, "n")
	p.refuse(`bash {"c":"ls"}`, gate.KindBlocked, "n")
	p.success(`chat {"action":"read"}`)
	p.success(`mail {"action":"reply"}`)
	p.success("odd.name")
	p.refuse(`odd {"action":"name"}`, gate.KindBlocked, "n")

	n.Phases[0].Tools = n.Phases[0].Tools[:2]
	p = play(t, gate.PolicyOptions{}, n)
	p.Offer([]gate.Call{{Tool: "sh"}, {Tool: "bash"}, {Tool: "chat"}, {Tool: "other"}})
	a := p.Advertise(time.Time{})
	if got := len(a.Tools); got != 2 || a.Tools[0] != "sh" || a.Tools[1] != "chat" {
		t.Errorf("%+v", a)
	}
	if a.Hidden[1].Tool != "other" || a.Hidden[1].Reason != "other cannot be called while net 'n' is in ready: only look, chat.read can." {
		t.Errorf("%+v", a.Hidden)
	}
}

func TestPhasesThatYield(t *testing.T) {
	n := workflow()
	n.Advisory = true
	p := play(t, gate.PolicyOptions{}, n, shadow(func() gate.Net { m := workflow(); m.Name = "dark"; return m }()))
	p.Offer([]gate.Call{{Tool: "edit"}})
	p.script("edit -> blocked dark")
}

// TestReasonOfNet checks that a hand-written net's reason appears in all its refusals, followed by
// details about the call.
func TestReasonOfNet(t *testing.T) {
	with := func(n gate.Net) gate.Net {
		n.Reason = "Plan first."
		return n
	}
	shell := with(handNet("n", map[string]int{"p": 1}, "t: p -> q | x"))
	shell.Maps = []gate.Map{{Tool: "sh", Field: "c", As: "x", Match: contains("x"), Source: "x"}}
	broken := with(handNet("n", map[string]int{"p": 1}, "t: p -> p | x"))
	broken.Mapper = func(gate.Call) []gate.Name { panic("odd") }
	keyed := with(handNet("n", map[string]int{"p": 1}, "t: p -> p | x"))
	keyed.Key = []gate.Field{{Path: "path"}}
	about := keyed
	about.Reason = "Save {key} first."
	sum := with(handNet("n", map[string]int{"p": 1}, "t: p -> p | x"))
	sum.Sum = &gate.Sum{Field: gate.Field{Path: "amount"}, Most: 10}
	for _, test := range []struct {
		name, call string
		net        gate.Net
		want       string
	}{
		{"a list", "edit", with(workflow()), "Plan first."},
		{"a marking", "stop", with(workflow()), "Plan first."},
		{"doubt", `sh {"c":["x"]}`, shell, "Plan first. Cannot tell whether this is x: write the command plainly."},
		{"a mapper", "x", broken, "Plan first. Net 'n' cannot judge the call because its mapper failed."},
		{"no value", "x", keyed, "Plan first. x needs a value in `path`: the call has no such value."},
		{"no value to write", "x", about, "x needs a value in `path`: the call has no such value."},
		{"a sum", `x {"amount":11}`, sum, "Plan first. x can spend at most 10 per session, but this call needs 11."},
	} {
		p := play(t, gate.PolicyOptions{}, test.net)
		if r := p.refuse(test.call, gate.KindBlocked, test.net.Name); r.Text != test.want {
			t.Errorf("%s: %s\nwant %s", test.name, r.Text, test.want)
		}
	}
}
