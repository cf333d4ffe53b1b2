package gate_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/petrigate/petrigate/gate"
)

// maxUnknown equals the package's constant.
const maxUnknown = 16

// lose makes n calls whose outcome stays unknown, and returns the number of the first.
func (p *player) lose(n int, text string) (first uint64) {
	p.t.Helper()
	for range n {
		ticket := p.allow(text).Ticket
		if ticket.Settle(gate.Unknown); first == 0 {
			first = ticket.Number
		}
	}
	return first
}

// open checks the number of open calls, and the number of further calls that the first one
// represents.
func (p *player) open(calls int, more uint64) {
	p.t.Helper()
	open := p.Open()
	if len(open) != calls || open[0].More != more {
		p.t.Fatalf("%d are open, and the first stands for %d more; want %d and %d\n%+v", len(open), open[0].More, calls, more, open)
	}
}

// all settles a call together with all calls that it represents, as an operator does.
func (p *player) all(number uint64) {
	p.t.Helper()
	if !p.End(number, gate.End{Outcome: gate.Failure, All: true}) {
		p.t.Errorf("call %d cannot be settled", number)
	}
}

// TestUnknownOutcomesAreMerged checks that a session stores few calls, however many are canceled,
// but at least one per tool.
func TestUnknownOutcomesAreMerged(t *testing.T) {
	p := play(t, gate.PolicyOptions{})
	first := p.lose(maxUnknown, "search")
	p.open(maxUnknown, 0)
	p.lose(10_000, "search")
	p.open(maxUnknown, 10_000)
	p.lose(2, "fetch")
	p.open(maxUnknown+1, 10_000)
	running := p.allow("search").Ticket
	p.open(maxUnknown+2, 10_000)
	if running.Settle(gate.Success); p.Settle(first+maxUnknown, gate.Success) {
		t.Error("a call is settled for which another stands")
	}
	p.Settle(first, gate.Success) // the call, or a call that it represents
	p.open(maxUnknown+1, 9_999)
	if p.Settle(first, gate.Unknown) {
		t.Error("unknown twice")
	}
	p.all(first)
	p.open(maxUnknown, 0)
	p.lose(1, "search")
	p.open(maxUnknown, 1)
}

// TestUnknownOutcomesOfDifferentTools checks that a call represents only calls that every policy would treat as calls
// of the same tool.
func TestUnknownOutcomesOfDifferentTools(t *testing.T) {
	p := play(t, gate.PolicyOptions{})
	p.lose(maxUnknown, "search")
	for _, c := range []gate.Call{
		{Tool: "search", Foreign: true}, {Tool: "search", Upstream: "web"}, {Tool: "search", Also: []gate.Name{{Text: "find"}}}, {Tool: "search", Annotations: []byte("{}")},
	} {
		before := len(p.Open())
		p.allowCall(c, nil).Ticket.Settle(gate.Unknown)
		if got := len(p.Open()); got != before+1 {
			t.Errorf("%+v: %d are open, want %d", c, got, before+1)
		}
	}
}

// TestUnknownOutcomeHoldsTokens checks that a call with tokens in flight is stored separately and can still
// succeed.
func TestUnknownOutcomeHoldsTokens(t *testing.T) {
	const n = 40
	p := play(t, gate.PolicyOptions{}, handNet("n", map[string]int{"idle": n}, "build: idle -> built [deferred] | build"))
	first := p.lose(n, "build")
	p.open(n, 0)
	for i := range uint64(n) {
		p.Settle(first+i, gate.Success)
	}
	p.status(fmt.Sprintf("n (active): built:%d", n))

	p = play(t, gate.PolicyOptions{}, handNet("n", map[string]int{"idle": 1}, "build: idle -> built [deferred] [release] | build"))
	p.lose(n, "build")
	p.open(maxUnknown, n-maxUnknown)
	p.status("n (active): idle:1")
}

// TestUnknownOutcomesOfOneTool checks that calls to the same tool that hold tokens are stored
// separately from others.
func TestUnknownOutcomesOfOneTool(t *testing.T) {
	net := handNet("n", map[string]int{"idle": 2}, "build: idle -> built [deferred] | build")
	net.Labels = &gate.Labels{Maps: []gate.Map{{Tool: "bash", Field: "command", As: "build", Match: contains("make")}}}
	p := play(t, gate.PolicyOptions{}, net)
	build := p.lose(1, `bash {"command":"make"}`)
	p.lose(maxUnknown, `bash {"command":"ls"}`)
	other := p.lose(1, `bash {"command":"make"}`)
	if open := p.Open(); len(open) != maxUnknown+1 || open[0].More != 0 || open[1].More != 1 {
		t.Fatalf("%+v", open)
	}
	p.Settle(build, gate.Success)
	p.Settle(other, gate.Success)
	p.status("n (active): built:2")
}

// TestUnknownOutcomeSpoils checks that calls that may still be in flight spoil evidence until each of them
// is known to have ended, or an operator says so.
func TestUnknownOutcomeSpoils(t *testing.T) {
	for _, shadow := range []bool{false, true} {
		net := freshNet("test", "push", "edit")
		net.Shadow = shadow
		would := func(p *player, allowed bool) {
			t.Helper()
			switch {
			case !shadow && allowed:
				p.success("push")
			case !shadow:
				p.refuse("push", gate.KindBlocked, fresh)
			default:
				a := p.allow("push")
				if a.Ticket.Settle(gate.Success); (a.Would == nil) != allowed {
					t.Errorf("in shadow it would have been %+v", a.Would)
				}
			}
		}
		p := play(t, gate.PolicyOptions{}, net)
		first := p.lose(30, "edit")
		p.open(maxUnknown, 30-maxUnknown)
		for i := range uint64(30) {
			p.success("test")
			would(p, false)
			p.Settle(first+i, gate.Success)
		}
		p.open(1, 30-maxUnknown-1)
		p.success("test")
		would(p, false)
		p.all(first)
		p.success("test")
		would(p, true)
	}
}

// TestUnknownOutcomeInShadowMode checks that a call does not represent another that spoils evidence
// in the enforced world of nets in shadow mode, if it would not have been made in that world
// itself.
func TestUnknownOutcomeInShadowMode(t *testing.T) {
	planned, edited := sequenceNet("plan", "edit"), freshNet("test", "push", "edit")
	planned.Shadow, edited.Shadow = true, true
	p := play(t, gate.PolicyOptions{}, planned, edited)
	p.lose(maxUnknown, "edit")
	p.success("plan")
	edit := p.lose(1, "edit")
	p.open(maxUnknown+1, 0)
	p.success("test")
	if a := p.allow("push"); a.Would == nil {
		t.Error("a test beside an edit is evidence")
	}
	p.all(edit)
	p.success("test")
	if a := p.allow("push"); a.Would != nil {
		t.Errorf("it would have been %+v", a.Would)
	}
}

// TestUnknownOutcomeByValue checks that a call represents another only if it spoils the same values.
func TestUnknownOutcomeByValue(t *testing.T) {
	net := freshNet("test", "push", "edit")
	net.Key = []gate.Field{{Path: "path"}}
	p := play(t, gate.PolicyOptions{}, net)
	a := p.lose(maxUnknown, `edit {"path":"a"}`)
	b := p.lose(3, `edit {"path":"b"}`)
	p.open(maxUnknown+1, 0)
	all := p.lose(3, "edit") // without a value: all values
	p.open(maxUnknown+2, 0)
	p.lose(3, `edit {"path":"a"}`)
	p.open(maxUnknown+2, 3)
	try := func(path string, allowed bool) {
		t.Helper()
		args := fmt.Sprintf(" {\"path\":%q}", path)
		if p.success("test" + args); allowed {
			p.success("push" + args)
		} else {
			p.refuse("push"+args, gate.KindBlocked, net.Name)
		}
	}
	try("c", false)
	p.all(all)
	try("c", true)
	try("b", false)
	p.all(b)
	try("b", true)
	for i := range uint64(maxUnknown) {
		try("a", false)
		p.all(a + i)
	}
	try("a", true)
}

// TestUnknownOutcomeAfterAdopt checks that a call still represents others under a later policy.
func TestUnknownOutcomeAfterAdopt(t *testing.T) {
	before, _ := gate.NewPolicy(nil, gate.PolicyOptions{})
	after, _ := gate.NewPolicy([]gate.Net{freshNet("test", "push", "edit")}, gate.PolicyOptions{})
	s := before.NewState(nil)
	for range 30 {
		s.Apply(before.Settle(s, admit(t, s, "edit"), gate.Unknown))
	}
	s, _ = after.Adopt(s, gate.AdoptOptions{})
	pushed := func() bool {
		s.Apply(after.Settle(s, admit(t, s, "test"), gate.Success))
		d, _ := after.Decide(s, gate.Call{Tool: "push"}, nil)
		_, ok := d.(*gate.Allow)
		return ok
	}
	for _, h := range s.Open() {
		if pushed() {
			t.Fatalf("it passes while %+v is open", h)
		}
		s.Apply(after.Settle(s, h.Number, gate.Failure))
	}
	if h := s.Open(); pushed() || len(h) != 1 {
		t.Fatalf("it passes although one of %+v may be under way", h)
	}
	if s.Apply(after.End(s, 1, gate.End{Outcome: gate.Failure, All: true})); !pushed() {
		t.Error("it does not pass")
	}
}

// TestUnknownOutcomeWithoutArguments checks that a call from before a policy change, whose
// arguments are no longer known, spoils the evidence for all values. A call that spoils it for a
// single value does not represent such a call.
func TestUnknownOutcomeWithoutArguments(t *testing.T) {
	old, net := freshNet("test", "push", "edit", "move"), freshNet("test", "push", "edit")
	net.Name, old.Key, net.Key = old.Name, []gate.Field{{Path: "path"}}, []gate.Field{{Path: "path"}}
	before, _ := gate.NewPolicy([]gate.Net{old}, gate.PolicyOptions{})
	after, _ := gate.NewPolicy([]gate.Net{net}, gate.PolicyOptions{})
	const a, b = ` {"path":"a"}`, ` {"path":"b"}`
	s := before.NewState(nil)
	first := admit(t, s, "edit"+a)
	s, _ = after.Adopt(s, gate.AdoptOptions{Reset: []string{net.Name}})
	for range maxUnknown {
		s.Apply(after.Settle(s, admit(t, s, "edit"+a), gate.Unknown))
	}
	s.Apply(after.Settle(s, first, gate.Unknown))
	s.Apply(after.Settle(s, admit(t, s, "test"+b), gate.Success))
	if d, _ := after.Decide(s, call("push"+b), nil); len(s.Open()) != maxUnknown+1 || d.(*gate.Refusal).Kind != gate.KindBlocked {
		t.Errorf("%+v\n%+v", d, s.Open())
	}
}

// admit makes a call and returns its number.
func admit(t *testing.T, s *gate.State, text string) uint64 {
	t.Helper()
	d, delta := s.Policy().Decide(s, call(text), nil)
	a, ok := d.(*gate.Allow)
	if !ok {
		t.Fatalf("%s: %+v", text, d)
	}
	s.Apply(delta)
	return a.Ticket.Number
}

// TestMergingUnknownOutcomesLetsNothingPass checks that merging calls with an unknown outcome never
// lets a call pass. It compares the session with one where no calls are merged, because each call
// has its own server.
func TestMergingUnknownOutcomesLetsNothingPass(t *testing.T) {
	nets := []gate.Net{
		freshNet("test", "push", "edit"), taintNet("send", "edit", "clear"), sequenceNet("backup", "delete"),
		handNet("lock", map[string]int{"free": 2}, "do: free -> free [deferred] | edit"),
	}
	keyed := freshNet("test", "publish", "edit")
	keyed.Key = []gate.Field{{Path: "path"}}
	nets = append(nets, keyed)
	tools := []string{"test", "push", "edit", "send", "clear", "backup", "delete", "publish"}
	outcomes := []gate.Outcome{gate.Unknown, gate.Unknown, gate.Unknown, gate.Success, gate.Failure}
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 0))
		few, apart := play(t, gate.PolicyOptions{}, nets...), play(t, gate.PolicyOptions{}, nets...)
		var open [][2]*gate.Ticket
		for step := range 400 {
			if len(open) > 0 && rng.IntN(2) == 0 {
				i, o := rng.IntN(len(open)), outcomes[rng.IntN(len(outcomes))]
				open[i][0].Settle(o)
				open[i][1].Settle(o)
				continue
			}
			c := call(tools[rng.IntN(len(tools))] + fmt.Sprintf(` {"path":"%d"}`, rng.IntN(3)))
			one, ok := few.Decide(c, nil).(*gate.Allow)
			c.Upstream = fmt.Sprint(step)
			if !ok {
				continue
			}
			other, ok := apart.Decide(c, nil).(*gate.Allow)
			if !ok {
				t.Fatalf("seed %d, step %d: %s passes only where calls are not told apart\n%s\n%s", seed, step, c.Tool, few.Status(), apart.Status())
			}
			open = append(open, [2]*gate.Ticket{one.Ticket, other.Ticket})
		}
		if a, b := len(few.Open()), len(apart.Open()); a > 80 || a > b {
			t.Errorf("seed %d: %d are open, %d apart", seed, a, b)
		}
	}
}
