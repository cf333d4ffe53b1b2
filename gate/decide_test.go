package gate_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
)

func TestVerdicts(t *testing.T) {
	n := handNet("n", map[string]int{"a": 1}, "go: a -> b | step", "back: b -> a | step", "see: b -> b [observe] | look", "stop: c -> c | halt")
	n.Free = []string{"read", "step-free"}
	p := play(t, gate.PolicyOptions{}, n, handNet("m", map[string]int{"x": 1}, "t: x -> x [manual] | step"))
	for _, c := range []struct{ tool, want string }{
		{"read", "n:free m:abstain"},
		{"other", "n:abstain m:abstain"},
		{"step", "n:gated go m:gated t manual"},
		{"look", "n:abstain m:abstain"},
		{"halt", "n:blocked m:abstain"},
	} {
		var got []string
		for _, v := range p.Classify(call(c.tool)) {
			text := v.Net + ":" + []string{"abstain", "free", "gated", "blocked"}[v.Kind]
			if v.Transition != "" {
				text += " " + v.Transition
			}
			if v.Manual {
				text += " manual"
			}
			got = append(got, text)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, want %s", c.tool, s, c.want)
		}
	}
	p.status("n (active): a:1", "m (active): x:1")
	if err := p.Deactivate("m"); err != nil {
		t.Fatal(err)
	}
	a := p.allow("step")
	if len(a.Nets) != 1 || a.Nets[0].Transition != "go" || a.Nets[0].Kind != gate.Gated {
		t.Errorf("%+v", a.Nets)
	}
	if vs := p.Classify(call("step")); len(vs) != 1 || vs[0].Transition != "back" {
		t.Errorf("%+v", vs)
	}
}

// twoNames returns a net whose calls to x have the names in as, in that order.
func twoNames(n gate.Net, as ...string) gate.Net {
	n.Mapper = func(gate.Call) []gate.Name {
		var names []gate.Name
		for _, a := range as {
			text, weak := strings.CutSuffix(a, "~")
			names = append(names, gate.Name{Text: text, Weak: weak})
		}
		return names
	}
	return n
}

func TestSeveralNamesInOneNet(t *testing.T) {
	for _, c := range []struct {
		name string
		net  gate.Net
		want string // the status after an admitted call, or "refused"
	}{
		{"no token is spent twice", twoNames(handNet("n", map[string]int{"p": 1}, "a: p -> q | a", "b: p -> q | b"), "a", "b"), "refused"},
		{"two tokens", twoNames(handNet("n", map[string]int{"p": 2}, "a: p -> q | a", "b: p -> q | b"), "a", "b"), "q:2"},
		{"written back", twoNames(handNet("n", map[string]int{"p": 1, "q": 2}, "a: p q -> p | a", "b: p q -> p | b"), "a", "b"), "p:1"},
		{"deferred takes all", twoNames(handNet("n", map[string]int{"p": 1}, "a: p -> p [deferred] | a", "b: p -> p | b"), "a", "b"), "refused"},
		{"chosen once", twoNames(handNet("n", map[string]int{"p": 1}, "t: p -> q | a b"), "a", "b"), "q:1"},
		{"one of them blocked", twoNames(handNet("n", map[string]int{"p": 1}, "a: p -> q | a", "b: r -> q | b"), "a", "b"), "refused"},
		{"no second candidate", twoNames(handNet("n", map[string]int{"p": 1, "r": 1}, "a: p -> q | a b", "b: r -> q | b", "c: p -> s | c"), "c", "b"), "refused"},
		{"observers are dropped", twoNames(handNet("n", map[string]int{"p": 1, "s": 1}, "a: p -> q | a", "r: s -> p [observe] | b"), "b", "a"), "q:1, s:1"},
		{"observers alone", twoNames(handNet("n", map[string]int{"s": 1}, "a: p -> q | a", "r: s -> p [observe] | b"), "b"), "p:1"},
		{"observers share no token", twoNames(handNet("n", map[string]int{"s": 1}, "a: s -> p [observe] | a", "b: s -> q [observe] | b"), "a", "b"), "p:1"},
		{"an observer once", twoNames(handNet("n", map[string]int{"s": 2}, "a: s -> p [observe] | a b"), "a", "b"), "s:1, p:1"},
		{"weak names are no evidence", twoNames(handNet("n", map[string]int{"s": 1}, "a: s -> p [observe] | a"), "a~"), "s:1"},
		{"weak names restrict", twoNames(handNet("n", map[string]int{"s": 1}, "a: p -> p | a"), "a~"), "refused"},
		{"no names", twoNames(handNet("n", map[string]int{"s": 1}, "a: p -> p | x")), "s:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := play(t, gate.PolicyOptions{}, c.net)
			if c.want == "refused" {
				p.refuse("x", gate.KindBlocked, "n")
				return
			}
			p.allow("x")
			p.status("n (active): " + c.want)
		})
	}
}

func TestFreeDoesNotWinOverAnotherName(t *testing.T) {
	n := twoNames(handNet("n", nil, "t: p -> p | a"), "free", "a")
	n.Free = []string{"free"}
	play(t, gate.PolicyOptions{}, n).refuse("x", gate.KindBlocked, "n")
}

func TestEveryBlockingNetIsNamed(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, sequenceNet("lint", "deploy"), sequenceNet("test", "deploy"), approvalNet("deploy"))
	r := p.refuse("deploy", gate.KindBlocked, "require-lint-before-deploy", "require-test-before-deploy")
	if want := "deploy requires a successful call to lint first. deploy requires a successful call to test first."; r.Text != want {
		t.Errorf("text %q", r.Text)
	}
	if b := r.Blocks[0]; b.Cause != gate.CauseSequence || b.Name != "deploy" {
		t.Errorf("%+v", b)
	}
}

func TestSentences(t *testing.T) {
	hand := handNet("hand", nil, "t: p -> p | x")
	globs := blockGlob("rm*", "")
	globs.Reason = ""
	p := play(t, gate.PolicyOptions{}, hand, globs, limitNet("push", 1, "session"))
	if r := p.refuse("x", gate.KindBlocked, "hand"); r.Text != "Tool 'x' is not available in the current state." || r.Blocks[0].Cause != gate.CauseNet {
		t.Errorf("%+v", r)
	}
	if r := p.refuse("rmdir", gate.KindBlocked, "block-rm*"); r.Text != "Tool 'rmdir' is not available in the current state." {
		t.Error(r.Text)
	}
	p.allow("push")
	if r := p.refuse("push", gate.KindBlocked, "limit-push-1"); r.Text != "push has reached its limit of 1 calls per session." {
		t.Error(r.Text)
	}
}

func TestARefusalNamesTheHolder(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	n := handNet("pipeline", map[string]int{"idle": 1, "spare": 1}, "build: idle -> built [deferred] | build", "test: idle -> built | test", "other: spare -> spare [deferred] | other")
	p := play(t, gate.PolicyOptions{}, n)
	p.allow("other")
	a := p.allowCall(gate.Call{ID: "7", Tool: "build", Time: start}, nil)
	r := p.refuseCall(gate.Call{Tool: "test", Time: start.Add(90 * time.Second)}, nil, gate.KindBlocked, "pipeline")
	if want := "Tool 'test' is not available in the current state. Call 2 of build has not ended after 1m30s and holds what this call needs."; r.Text != want {
		t.Errorf("text %q", r.Text)
	}
	if h := r.Blocks[0].Holds; len(h) != 1 || h[0] != (gate.Holder{Number: a.Ticket.Number, ID: "7", Tool: "build", Since: start}) {
		t.Errorf("holders %+v", h)
	}
	if r := p.refuse("test", gate.KindBlocked, "pipeline"); !strings.Contains(r.Text, "has not ended and holds") {
		t.Error(r.Text)
	}
}

func TestDuplicates(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, approvalNet("deploy"))
	c := gate.Call{ID: "1", Tool: "x"}
	a := p.allowCall(c, nil)
	p.refuseCall(c, nil, gate.KindDuplicate)
	a.Ticket.Close()
	p.refuseCall(c, nil, gate.KindDuplicate)
	a.Ticket.Settle(gate.Success)
	p.allowCall(c, nil).Ticket.Settle(gate.Failure)

	deploy := gate.Call{ID: "1", Tool: "deploy"}
	ask := p.Decide(deploy, nil).(*gate.Ask)
	if r := p.refuseCall(c, nil, gate.KindDuplicate); r.Text != `A call with the id "1" is still in progress.` {
		t.Error(r.Text)
	}
	p.Withdraw(ask)
	b := p.allowCall(c, nil)
	// The waiting call may be decided again although its ID is taken.
	other := p.Decide(gate.Call{ID: "2", Tool: "deploy"}, nil).(*gate.Ask)
	p.refuseCall(gate.Call{ID: "1", Tool: "deploy"}, other.Grant(), gate.KindDuplicate)
	b.Ticket.Settle(gate.Success)
	p.allowCall(gate.Call{ID: "1", Tool: "deploy"}, other.Grant())
	p.allow("x")
	p.allow("x")
}

func TestApproval(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, approvalNet("deploy"), handNet("staging", map[string]int{"s": 1}, "go: s -> t [manual] | deploy", "again: t -> s [manual] | deploy"))
	a := p.ask("deploy")
	if len(a.Steps) != 2 || a.Steps[0].Reason != "deploy requires human approval." || a.Steps[1].Reason != "deploy requires human approval." || a.Steps[1].Transition != "go" {
		t.Errorf("%+v", a.Steps)
	}
	if r := a.Refusal(); r.Kind != gate.KindApproval || len(r.Blocks) != 2 || r.Text != "deploy requires human approval." {
		t.Errorf("%+v", r)
	}
	p.status("approve-before-deploy (active): ready:1", "staging (active): s:1")
	allow := p.allowCall(call("deploy"), a.Grant())
	if allow.Ticket.Number != a.Number {
		t.Errorf("the call %d became %d", a.Number, allow.Ticket.Number)
	}
	if _, ok := p.Decide(call("deploy"), a.Grant()).(*gate.Ask); !ok {
		t.Error("a grant was used twice")
	}
}

func TestGrantsThatDoNotCount(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, approvalNet("deploy"))
	a := p.ask(`deploy {"to":"staging"}`)
	for name, try := range map[string]struct {
		call  gate.Call
		grant *gate.Grant
	}{
		"other arguments": {call(`deploy {"to":"production"}`), a.Grant()},
		"number 0":        {a.Call, &gate.Grant{Steps: a.Steps}},
		"never asked":     {a.Call, &gate.Grant{Number: 99, Steps: a.Steps}},
	} {
		if d, ok := p.Decide(try.call, try.grant).(*gate.Ask); !ok {
			t.Errorf("%s: %+v", name, d)
		}
	}
	p.refuseCall(a.Call, &gate.Grant{Number: a.Number}, gate.KindStateChanged, "approve-before-deploy")
	p.allowCall(a.Call, a.Grant()) // no token was consumed
}

func TestStateChanged(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, approvalNet("deploy"), limitNet("deploy", 1, "session"))
	a, b := p.ask("deploy"), p.ask("deploy")
	p.allowCall(call("deploy"), a.Grant())
	r := p.refuseCall(call("deploy"), b.Grant(), gate.KindStateChanged, "limit-deploy-1")
	if !strings.HasPrefix(r.Text, "The state changed while the call waited for approval: deploy has reached") {
		t.Error(r.Text)
	}
	p.Reset()
	if d, ok := p.Decide(call(`deploy {"to":"production"}`), b.Grant()).(*gate.Ask); !ok {
		t.Errorf("the approval of another call: %T", d)
	}
	p.allowCall(call("deploy"), b.Grant())

	// Approving one transition does not approve another.
	p = play(t, gate.PolicyOptions{}, handNet("n", map[string]int{"s": 1}, "staging: s -> t [manual] | deploy", "production: t -> s [manual] | deploy"))
	a, b = p.ask("deploy"), p.ask("deploy")
	p.allowCall(call("deploy"), a.Grant())
	p.refuseCall(call("deploy"), b.Grant(), gate.KindStateChanged, "n")
}

func TestDefaultAndValidationAfterApproval(t *testing.T) {
	n := handNet("n", map[string]int{"s": 1}, "t: s -> s [manual] | x")
	n.Validate = func(gate.Firing) error { return errors.New("") }
	p := play(t, gate.PolicyOptions{Deny: true}, n)
	a := p.ask("x")
	if r := p.refuseCall(a.Call, a.Grant(), gate.KindValidation, "n"); r.Text != "Tool 'x' is not available in the current state." {
		t.Error(r.Text)
	}
	if err := p.Deactivate("n"); err != nil {
		t.Fatal(err)
	}
	p.refuseCall(a.Call, a.Grant(), gate.KindDefault)
}

func TestValidators(t *testing.T) {
	var ran []string
	judge := func(err error) func(gate.Firing) error {
		return func(f gate.Firing) error {
			ran = append(ran, fmt.Sprintf("%s/%s/%s %s", f.Net, f.Transition, f.Name, f.Marking))
			f.Meta["calls"] = len(ran)
			return err
		}
	}
	first := handNet("first", map[string]int{"p": 1}, "a: p -> p | a", "b: p -> p | b")
	first = twoNames(first, "b", "a")
	first.Validate = judge(nil)
	second := handNet("second", map[string]int{"p": 1}, "t: p -> p | x")
	fail := errors.New("writes are restricted to /workspace/")
	second.Validate = func(f gate.Firing) error {
		if string(f.Call.Args) == "panic" {
			panic("out of order")
		}
		if f.Call.Args == nil {
			return judge(nil)(f)
		}
		return judge(fail)(f)
	}
	silent := handNet("silent", map[string]int{"p": 1}, "t: p -> p | x")
	p := play(t, gate.PolicyOptions{}, silent, first, second)
	p.allowCall(gate.Call{Tool: "x"}, nil)
	if got := strings.Join(ran, ", "); got != "first/b/b p:1, first/a/a p:1, second/t/x p:1" {
		t.Errorf("validators ran: %s", got)
	}
	metas := func() string {
		nets := p.Nets()
		return fmt.Sprint(nets[0].Meta, nets[1].Meta, nets[2].Meta)
	}
	if got := metas(); got != "map[] map[calls:2] map[calls:3]" {
		t.Errorf("meta %s", got)
	}
	r := p.refuse("x {}", gate.KindValidation, "second")
	if r.Text != fail.Error() {
		t.Errorf("%+v", r)
	}
	r = p.refuse("x panic", gate.KindValidation, "second")
	if r.Text != "The validator of net 'second' failed." {
		t.Errorf("%+v", r)
	}
	if got := metas(); got != "map[] map[calls:2] map[calls:3]" {
		t.Errorf("a rejected call left meta %s", got)
	}
}

func TestABrokenMapperBlocks(t *testing.T) {
	n := handNet("n", nil, "t: p -> p | x")
	n.Mapper = func(gate.Call) []gate.Name { panic("out of order") }
	p := play(t, gate.PolicyOptions{}, n)
	if r := p.refuse("y", gate.KindBlocked, "n"); r.Text != "Net 'n' cannot judge the call because its mapper failed." {
		t.Error(r.Text)
	}
}

// restless returns a net that does not come to rest once it holds 20,000 tokens.
func restless(flags string) gate.Net {
	n := handNet("n", map[string]int{"a": 20_000}, "go: a -> b "+flags+" | x", "move: b c -> c d")
	n.Transitions[0].Inputs = nil
	for range 20_000 {
		n.Transitions[0].Inputs = append(n.Transitions[0].Inputs, "a")
		n.Transitions[0].Outputs = append(n.Transitions[0].Outputs, "b")
	}
	n.Initial["c"] = 1
	return n
}

func TestANetThatDoesNotComeToRest(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, restless(""))
	if r := p.refuse("x", gate.KindBlocked, "n"); r.Text != "Net 'n' never settles: its transitions without tools keep firing." {
		t.Error(r.Text)
	}
	p = play(t, gate.PolicyOptions{}, approvalNet("x"), restless(""))
	p.refuseCall(call("x"), p.ask("x").Grant(), gate.KindBlocked, "n")

	// A result comes too late for a refusal, so the net blocks all later calls.
	p = play(t, gate.PolicyOptions{}, restless("[deferred]"))
	p.success("x")
	if r := p.refuse("x", gate.KindBlocked, "n"); r.Text != "Net 'n' never settles: its transitions without tools keep firing." {
		t.Error(r.Text)
	}
	if len(p.Enabled()) != 0 {
		t.Error("a stuck net offers a transition")
	}
	p.status("n (active): b:20001, c:1")
	p.Reset()
	p.allow("x")
}

func TestDecideIsPure(t *testing.T) {
	policy, err := gate.NewPolicy([]gate.Net{limitNet("x", 1, "session"), sequenceNet("x", "y")}, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := policy.NewState([]string{"limit-x-1", "unknown"})
	d, delta := policy.Decide(s, call("x"), nil)
	again, _ := policy.Decide(s, call("x"), nil)
	if d.(*gate.Allow).Ticket.Number != again.(*gate.Allow).Ticket.Number || len(s.Calls) != 0 {
		t.Error("a decision changed the state")
	}
	s.Apply(delta)
	if d, _ := policy.Decide(s, call("x"), nil); d.(*gate.Refusal).Kind != gate.KindBlocked {
		t.Errorf("%+v", d)
	}
	if d, _ := policy.Decide(s, call("y"), nil); len(d.(*gate.Allow).Nets) != 0 {
		t.Error("an inactive net was asked")
	}
	s.Apply(policy.Settle(s, 1, gate.Success))
	s.Apply(policy.Settle(s, 1, gate.Success))
	defer func() {
		if recover() == nil || s.Nets[0].Marking[0] < 0 {
			t.Error("a broken delta was applied")
		}
	}()
	s.Apply(&gate.Delta{Nets: []gate.NetDelta{{Data: &gate.NetData{Marking: []int{-1}}}}})
}
