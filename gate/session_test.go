package gate_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/soak"
)

func TestRegistry(t *testing.T) {
	policy, err := gate.NewPolicy([]gate.Net{limitNet("x", 1, "session"), blockNet("y")}, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p := &player{t, gate.NewSession(policy, gate.SessionOptions{Active: []string{"limit-x-1"}})}
	p.status("limit-x-1 (active): ready:1, budget:1", "block-y (inactive): ready:1")
	p.allow("y")
	p.allow("x")
	for _, c := range []struct{ err, want error }{
		{p.Activate("z"), errors.New(`unknown net "z"; the nets are: limit-x-1, block-y`)},
		{p.Activate("limit-x-2"), errors.New(`unknown net "limit-x-2"; did you mean "limit-x-1"?`)},
		{p.Activate("limit-x-1"), errors.New(`net "limit-x-1" is already active`)},
		{p.Deactivate("block-y"), errors.New(`net "block-y" is not active; active: limit-x-1`)},
		{p.Deactivate("limit-x-1"), nil},
		{p.Activate("block-y"), nil},
	} {
		if fmt.Sprint(c.err) != fmt.Sprint(c.want) {
			t.Errorf("%v, want %v", c.err, c.want)
		}
	}
	p.allow("x")
	p.refuse("y", gate.KindBlocked, "block-y")
	if err := p.Activate("limit-x-1"); err != nil {
		t.Fatal(err)
	}
	p.refuse("x", gate.KindBlocked, "limit-x-1") // it continues in its earlier state
	none := gate.NewSession(policy, gate.SessionOptions{Active: []string{}})
	if s := none.Status(); strings.Contains(s, "(active)") {
		t.Error(s)
	}
}

func TestSwitch(t *testing.T) {
	p := newPolicy(t, blockNet("a"), blockNet("b"), blockNet("c"))
	for _, c := range []struct {
		active []string
		net    string
		on     bool
		want   string
	}{
		{nil, "block-b", false, "[block-a block-c] <nil>"},
		{[]string{"block-c"}, "block-a", true, "[block-a block-c] <nil>"},
		{[]string{"block-a"}, "block-a", false, "[] <nil>"},
		{nil, "block-b", true, `[] net "block-b" is already active`},
		{[]string{}, "block-b", false, `[] net "block-b" is not active; active: none`},
		{nil, "blok-b", false, `[] unknown net "blok-b"; did you mean "block-b"?`},
	} {
		active, err := p.Switch(c.active, c.net, c.on)
		if got := fmt.Sprint(active, err); got != c.want {
			t.Errorf("%v %s: %s, want %s", c.active, c.net, got, c.want)
		}
		if err == nil && active == nil {
			t.Error("nil is all nets")
		}
	}
}

// TestAnInactiveNetSettles checks that calls in flight settle while the net is off, and that their
// results count once it is on again.
func TestAnInactiveNetSettles(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, handNet("n", map[string]int{"a": 1}, "x: a -> b [deferred] | x", "y: b -> b | y"))
	x := p.allow("x").Ticket
	if err := p.Deactivate("n"); err != nil {
		t.Fatal(err)
	}
	p.allow("y")
	x.Settle(gate.Success)
	if err := p.Activate("n"); err != nil {
		t.Fatal(err)
	}
	p.marking("b:1")
	p.allow("y")
}

func TestNetsAndOpen(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, handNet("n", map[string]int{"a": 2}, "t: a -> b [deferred] | x"))
	p.allowCall(gate.Call{ID: "one", Tool: "x"}, nil)
	for range 20 {
		p.allow("y")
	}
	n := p.Nets()[0]
	if len(n.InFlight) != 1 || n.InFlight[0] != (gate.InFlight{Transition: "t", Call: 1, Name: "x"}) || n.Marking[0] != (gate.Tokens{Place: "a", Count: 2, InFlight: 1}) {
		t.Errorf("%+v", n)
	}
	open := p.Open()
	if len(open) != 21 || open[0].ID != "one" || open[20].Number != 21 {
		t.Errorf("%+v", open)
	}
}

func TestReset(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, handNet("n", map[string]int{"a": 1}, "t: a -> b [deferred] | x"))
	x := p.allow("x").Ticket
	p.Reset()
	p.status("n (active): a:1")
	if !x.Settle(gate.Success) || len(p.Open()) != 0 {
		t.Error("the call stays open")
	}
	p.status("n (active): a:1")
}

func TestPromptAndEnabled(t *testing.T) {
	n := handNet("n", map[string]int{"a": 1}, "t: a -> b | x y", "u: a -> a [manual] | x", "v: b -> a | z")
	n.Free = []string{"ls", "read"}
	p := play(t, gate.PolicyOptions{}, n, blockNet("q"), blockNet("off"))
	if err := p.Deactivate("block-off"); err != nil {
		t.Fatal(err)
	}
	want := `## Active Petri Nets

### n
Available gated tools: x, y
Free tools: ls, read
State: a:1

### block-q
Available gated tools: none
Free tools: none
State: ready:1
`
	if got := p.Prompt(); got != want {
		t.Errorf("prompt\n%s", got)
	}
	var got []string
	for _, e := range p.Enabled() {
		got = append(got, fmt.Sprintf("%s/%s %d %v", e.Net, e.Transition, len(e.Tools), e.Manual))
	}
	if s := strings.Join(got, ", "); s != "n/t 2 false, n/u 1 true" {
		t.Error(s)
	}
}

// TestPromptOfSpoilers checks that a tool that only spoils evidence does not appear as gated.
func TestPromptOfSpoilers(t *testing.T) {
	n := handNet("n", map[string]int{"done": 1}, "use: done -> done | deploy", "spoil: done -> idle | edit deploy")
	n.Transitions[1].Observe, n.Transitions[1].Spoils = true, true
	p := play(t, gate.PolicyOptions{}, n)
	if got := p.Prompt(); !strings.Contains(got, "Available gated tools: deploy\n") {
		t.Error(got)
	}
	if got := p.Enabled(); len(got) != 2 {
		t.Error(got)
	}
}

// TestLeft checks that the number of remaining calls decreases, and that only limits have it.
func TestLeft(t *testing.T) {
	pairs := gate.Net{
		Name: "pairs", Cause: gate.CauseLimit, Places: []string{"a", "b"}, Initial: map[string]int{"a": 5, "b": 9},
		Transitions: []gate.Transition{
			{Name: "two", Inputs: []string{"a", "a", "b", "b"}, Outputs: []string{"b"}, Tools: gate.Tools("two")},
			{Name: "loop", Inputs: []string{"a"}, Outputs: []string{"a"}, Tools: gate.Tools("loop")},
		},
	}
	p := play(t, gate.PolicyOptions{}, limitNet("push", 2, "session"), pairs, blockNet("off"))
	left := func(tool string) (list []string) {
		for _, v := range p.Classify(call(tool)) {
			if n, ok := p.Left(v); ok {
				list = append(list, fmt.Sprintf("%s %d", v.Net, n))
			}
		}
		return list
	}
	want := func(tool string, said ...string) {
		t.Helper()
		if got := left(tool); !slices.Equal(got, said) {
			t.Errorf("%s: %v, want %v", tool, got, said)
		}
	}
	want("push", "limit-push-2 2")
	want("two", "pairs 2")
	want("loop")
	want("off")
	p.Replay([]gate.Entry{{Call: call("push"), Outcome: gate.Success}, {Call: call("two"), Outcome: gate.Success}, {Call: call("two"), Outcome: gate.Success}})
	want("push", "limit-push-2 1")
	want("two")
	p.Replay([]gate.Entry{{Call: call("push"), Outcome: gate.Success}})
	want("push")
}

func TestReplay(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, sequenceNet("backup", "delete"), limitNet("delete", 2, "session"), approvalNet("delete"), blockNet("delete"))
	p.Replay([]gate.Entry{
		{Call: call("delete"), Outcome: gate.Success}, // blocked by the first net, counted by the second
		{Call: call("backup"), Outcome: gate.Success},
		{Call: call("delete"), Outcome: gate.Success},
		{Call: call("delete"), Outcome: gate.Failure}, // counts for nothing
		{Call: call("backup"), Outcome: gate.Success},
		{Call: call("backup")},
	})
	p.status("require-backup-before-delete (active): gate:1", "limit-delete-2 (active): ready:1", "approve-before-delete (active): ready:1", "block-delete (active): ready:1")
	if len(p.Open()) != 1 {
		t.Errorf("open %v", p.Open())
	}
	p = play(t, gate.PolicyOptions{}, restless(""))
	p.Replay([]gate.Entry{{Call: call("x"), Outcome: gate.Success}})
	p.status("n (active): a:20000, c:1")
}

// TestReplayedFailure checks that failed calls use nothing up.
func TestReplayedFailure(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, limitNet("push", 1, "session"))
	p.Replay([]gate.Entry{{Call: call("push"), Outcome: gate.Failure}, {Call: call("push"), Outcome: gate.Failure}})
	p.status("limit-push-1 (active): ready:1, budget:1")
	if open := p.Open(); len(open) > 0 {
		t.Errorf("open %v", open)
	}
}

func TestStaticNets(t *testing.T) {
	fixed := blockNet("a")
	fixed.Static = true
	for _, c := range []struct {
		o    gate.PolicyOptions
		want string // for the nets a and b
	}{
		{gate.PolicyOptions{}, "true false"},
		{gate.PolicyOptions{Static: true}, "true true"},
	} {
		policy, err := gate.NewPolicy([]gate.Net{fixed, blockNet("b")}, c.o)
		if err != nil {
			t.Fatal(err)
		}
		s := gate.NewSession(policy, gate.SessionOptions{Active: []string{"block-a"}})
		nets := s.Nets()
		if got := fmt.Sprint(nets[0].Static, " ", nets[1].Static); got != c.want || policy.Options().Static != c.o.Static {
			t.Errorf("static: %s, want %s", got, c.want)
		}
		const refused = `net "block-a" cannot be switched at run time`
		_, switched := policy.Switch(nil, "block-a", false)
		for _, err := range []error{s.Activate("block-a"), s.Deactivate("block-a"), switched} {
			if fmt.Sprint(err) != refused {
				t.Errorf("%v, want %s", err, refused)
			}
		}
		if err := s.Activate("block-b"); (err != nil) != c.o.Static {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
}

// TestOnDecision checks that OnDecision receives each decision, including the final decision after
// a person's answer.
func TestOnDecision(t *testing.T) {
	shadow := limitNet("fetch", 1, "session")
	shadow.Shadow = true
	policy, err := gate.NewPolicy([]gate.Net{blockNet("rm"), approvalNet("deploy"), shadow}, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	var s *gate.Session
	s = gate.NewSession(policy, gate.SessionOptions{OnDecision: func(c gate.Call, d gate.Decision) {
		word := ""
		switch d := d.(type) {
		case *gate.Allow:
			word = "allow"
			if d.Would != nil {
				word += ", would be " + string(d.Would.Kind)
			}
		case *gate.Refusal:
			word = string(d.Kind)
		case *gate.Ask:
			word = "ask"
		}
		told = append(told, c.Tool+" "+word)
		s.Status() // no lock is held
	}})
	for _, tool := range []string{"rm", "read", "fetch", "fetch"} {
		s.Decide(call(tool), nil)
	}
	for _, yes := range []bool{true, false} {
		gate.Confirm(context.Background(), s, call("deploy"), func(context.Context, *gate.Ask) (bool, error) { return yes, nil })
	}
	want := "rm blocked; read allow; fetch allow; fetch allow, would be blocked; deploy ask; deploy allow; deploy ask; deploy approval"
	if got := strings.Join(told, "; "); got != want {
		t.Errorf("told %s\nwant %s", got, want)
	}
}

func TestConfirm(t *testing.T) {
	ctx := context.Background()
	done, cancel := context.WithCancel(ctx)
	cancel()
	answer := func(yes bool, err error) func(context.Context, *gate.Ask) (bool, error) {
		return func(context.Context, *gate.Ask) (bool, error) { return yes, err }
	}
	for _, c := range []struct {
		name string
		ctx  context.Context
		tool string
		ask  func(context.Context, *gate.Ask) (bool, error)
		want string
	}{
		{"nothing to ask", ctx, "x", nil, "allow"},
		{"nobody to ask", ctx, "deploy", nil, "approval"},
		{"yes", ctx, "deploy", answer(true, nil), "allow"},
		{"no", ctx, "deploy", answer(false, nil), "approval"},
		{"error", ctx, "deploy", answer(true, errors.New("lost")), "approval"},
		{"too late", done, "deploy", answer(true, nil), "approval"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := play(t, gate.PolicyOptions{}, approvalNet("deploy"))
			got := "allow"
			if r, ok := gate.Confirm(c.ctx, p.Session, gate.Call{ID: "1", Tool: c.tool}, c.ask).(*gate.Refusal); ok {
				got = string(r.Kind)
				p.allowCall(gate.Call{ID: "1", Tool: "x"}, nil) // it no longer waits
			}
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// TestSeveralPersons checks that a call that needs two different people passes only with two,
// whichever way they are asked.
func TestSeveralPersons(t *testing.T) {
	two, three := approvalNet("deploy"), approvalNet("deploy")
	two.Transitions[1].Approvals = 2
	three.Name, three.Transitions[1].Approvals, three.Reason = "three", 3, ""
	p := play(t, gate.PolicyOptions{}, two, approvalNet("push"))
	count := func(n int, err error) func(context.Context, *gate.Ask) (int, error) {
		return func(context.Context, *gate.Ask) (int, error) { return n, err }
	}
	ctx := context.Background()
	for _, c := range []struct {
		tool string
		ask  func(context.Context, *gate.Ask) (int, error)
		pass bool
	}{
		{"deploy", count(2, nil), true}, {"deploy", count(3, nil), true},
		{"deploy", count(1, nil), false}, {"deploy", count(0, nil), false}, {"deploy", count(-1, nil), false}, {"deploy", count(2, errors.New("lost")), false}, {"deploy", nil, false},
		{"push", count(1, nil), true}, {"push", count(0, nil), false},
	} {
		if _, ok := gate.ConfirmN(ctx, p.Session, call(c.tool), c.ask).(*gate.Allow); ok != c.pass {
			t.Errorf("%s: %v, want %v", c.tool, ok, c.pass)
		}
	}
	yes := func(context.Context, *gate.Ask) (bool, error) { return true, nil }
	if r, ok := gate.Confirm(ctx, p.Session, call("deploy"), yes).(*gate.Refusal); !ok || r.Kind != gate.KindApproval {
		t.Error("one yes is enough for two persons")
	}
	both := play(t, gate.PolicyOptions{}, two, three, approvalNet("deploy"))
	ask := both.ask("deploy")
	if ask.Approvals() != 3 || ask.Steps[0].Approvals != 2 || ask.Steps[2].Approvals != 0 || ask.Steps[1].Reason != "deploy requires the approval of 3 different people." {
		t.Errorf("%d: %+v", ask.Approvals(), ask.Steps)
	}
	both.allowCall(call("deploy"), ask.Grant())
}

// TestMorePersonsThanAsked checks that one person's approval is not enough if the net requires two
// by the time of the answer.
func TestMorePersonsThanAsked(t *testing.T) {
	two := approvalNet("deploy")
	two.Transitions[1].Approvals = 2
	s := newPolicy(t, approvalNet("deploy")).NewState(nil)
	d, delta := s.Policy().Decide(s, call("deploy"), nil)
	s.Apply(delta)
	now, _ := newPolicy(t, two).Adopt(s, gate.AdoptOptions{})
	if r, ok := first(now.Policy().Decide(now, call("deploy"), d.(*gate.Ask).Grant())).(*gate.Refusal); !ok || r.Kind != gate.KindStateChanged {
		t.Errorf("%+v", r)
	}
}

// race makes 64 concurrent calls to x and counts those that pass.
func race(s *gate.Session) int64 {
	var passed atomic.Int64
	var wg sync.WaitGroup
	start := make(chan struct{})
	for range 64 {
		wg.Go(func() {
			<-start
			if _, ok := s.Decide(gate.Call{Tool: "x"}, nil).(*gate.Allow); ok {
				passed.Add(1)
			}
		})
	}
	close(start)
	wg.Wait()
	return passed.Load()
}

func TestOneOfManyPasses(t *testing.T) {
	times := soak.Count(1000)
	for name, n := range map[string]gate.Net{
		"limit":    limitNet("x", 1, "session"),
		"deferred": handNet("n", map[string]int{"idle": 1}, "build: idle -> built [deferred] | x"),
	} {
		t.Run(name, func(t *testing.T) {
			policy, err := gate.NewPolicy([]gate.Net{n}, gate.PolicyOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for range times {
				if passed := race(gate.NewSession(policy, gate.SessionOptions{})); passed != 1 {
					t.Fatalf("%d of 64 calls passed", passed)
				}
			}
		})
	}
}

func TestOneGrantAdmitsOneCall(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, approvalNet("x"))
	g := p.ask("x").Grant()
	var passed atomic.Int64
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			if _, ok := p.Decide(gate.Call{Tool: "x", Args: []byte{}}, g).(*gate.Allow); ok {
				passed.Add(1)
			}
		})
	}
	wg.Wait()
	if passed.Load() != 1 {
		t.Errorf("one grant admitted %d calls", passed.Load())
	}
}
