package verify_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/internal/soak"
	"github.com/petrigate/petrigate/rules"
)

// refusal returns the refusal of a call after other calls have ended. These succeed, but a call
// with the prefix "-" fails, and a call with the prefix "?" stays in flight.
func refusal(t testing.TB, p *gate.Policy, after, tool string) (*gate.State, gate.Call, *gate.Refusal) {
	t.Helper()
	s := p.NewState(nil)
	for _, name := range strings.Fields(after) {
		outcome := gate.Success
		switch name[0] {
		case '-':
			outcome = gate.Failure
		case '?':
			outcome = gate.Unknown
		}
		now, ok := begin(p, s, callOf(strings.TrimLeft(name, "-?")))
		if !ok {
			t.Fatalf("%s is refused", name)
		}
		s = settle(p, now.state, now.number, outcome)
	}
	d, _ := p.Decide(s, callOf(tool), nil)
	r, ok := d.(*gate.Refusal)
	if !ok {
		t.Fatalf("%s is not refused: %T", tool, d)
	}
	return s, callOf(tool), r
}

// callOf returns the call "tool" or "tool{json}".
func callOf(text string) gate.Call {
	if i := strings.IndexByte(text, '{'); i >= 0 {
		return gate.Call{Tool: text[:i], Args: []byte(text[i:])}
	}
	return gate.Call{Tool: text}
}

func TestRemedies(t *testing.T) {
	for _, c := range []struct {
		rules, after, tool, want string
	}{
		{"require backup before delete", "", "delete", "Way out: call `backup`; after that `delete` is allowed."},
		{"require backup before delete", "backup delete -backup", "delete", "Way out: call `backup`; after that `delete` is allowed."},
		{"require lint before test\nrequire test before deploy", "", "deploy", "Way out: call `lint`, then `test`; after that `deploy` is allowed."},
		{"require lint before test\nrequire test before deploy", "lint", "deploy", "Way out: call `test`; after that `deploy` is allowed."},
		{"block rm", "", "rm", "No other call changes that in this session."},
		{"limit push to 1 per session", "push", "push", "No other call changes that in this session."},
		{"limit push to 2 per test", "push push", "push", "Way out: call `test`; after that `push` is allowed."},
		{"limit push to 2 per test\nlimit test to 1 per session", "test push push", "push", "No other call changes that in this session."},
		{"require plan before deploy\nrequire human-approval before plan", "", "deploy", "Way out: call `plan`, which a person has to approve; after that `deploy` is allowed."},
		{"require plan before deploy\nrequire 2 human-approvals before deploy\nrequire 3 human-approvals before plan", "", "deploy", "Way out: call `plan`, which 3 people have to approve; after that `deploy` is allowed, if 2 people agree."},
		{"require plan before deploy\nrequire human-approval before deploy", "", "deploy", "Way out: call `plan`; after that `deploy` is allowed, if a person agrees."},
		{"require a before b\nrequire b before a", "", "a", "No other call changes that in this session."},
		{"map bash.command cp as backup\nrequire backup before delete", "", "delete", "Way out: call `bash` with {\"command\":\"cp\"} (backup); after that `delete` is allowed."},
		{"require backup before delete\nblock *.x\nlimit delete to 3 per session", "", `delete{"path":"a"}`, "Way out: call `backup`; after that `delete` is allowed."},
		{"limit push to 1 per user", "push", "push", "No other call changes that."},
		{"require read_* before edit_file\nlimit r* to 3 per session", "", "edit_file", "Way out: call a tool that matches `read_*`; after that `edit_file` is allowed."},
		{"require read_* before edit_file\nblock *_a", "", "edit_file", "Way out: call a tool that matches `read_*`; after that `edit_file` is allowed."},
		{"map bash.command cp as copy\nrequire copy before delete\nlimit b* to 3 per session", "", "delete", "Way out: call `bash` with {\"command\":\"cp\"} (copy); after that `delete` is allowed."},
		{"require backup before delete", "?backup", "delete", "Way out: call `backup`; after that `delete` is allowed."},
	} {
		f, _ := rules.Parse("policy.rules", []byte(c.rules))
		compiled, err := rules.Compile(f)
		if err != nil {
			t.Fatal(err)
		}
		p, err := gate.NewPolicy(compiled.Nets, gate.PolicyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s, call, r := refusal(t, p, c.after, c.tool)
		remedy := verify.NewRemedyFinder(p, verify.Options{}).Remedy(s, call, r)
		if got := remedy.Sentence(call.Tool); got != c.want {
			t.Errorf("%q after %q, %s: %s (%s)", c.rules, c.after, c.tool, got, remedy.Why)
		}
	}
}

// handmade returns a net that spends tokens and gets them back through another tool.
func handmade(deferred bool) gate.Net {
	return gate.Net{
		Name: "n", Places: []string{"coins", "open"}, Initial: map[string]int{"coins": 1},
		Transitions: []gate.Transition{
			{Name: "earn", Outputs: []string{"coins"}, Inputs: []string{"open"}, Tools: gate.Tools("work"), Deferred: true},
			{Name: "buy", Inputs: []string{"coins"}, Outputs: []string{"open"}, Tools: gate.Tools("pay"), Deferred: deferred},
		},
	}
}

func TestRemediesThatAreNotKnown(t *testing.T) {
	deferred, err := gate.NewPolicy([]gate.Net{handmade(true)}, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, call, r := refusal(t, deferred, "?pay", "pay")
	if got := verify.NewRemedyFinder(deferred, verify.Options{}).Remedy(s, call, r); got.Found || got.None || got.Why != "calls that have not ended may change it" {
		t.Errorf("with a call in flight: %+v", got)
	}
	strict := handmade(false)
	strict.Validate = func(gate.Firing) error { return fmt.Errorf("no") }
	validated, err := gate.NewPolicy([]gate.Net{strict}, gate.PolicyOptions{Deny: true})
	if err != nil {
		t.Fatal(err)
	}
	finder := verify.NewRemedyFinder(validated, verify.Options{})
	s, call, r = refusal(t, validated, "", "pay")
	if got := finder.Remedy(s, call, r); got.Why != "no other call changes what was refused" || got.Sentence("pay") != "" {
		t.Errorf("of a validator: %+v", got)
	}
	s, call, r = refusal(t, validated, "", "work")
	if got := finder.Remedy(s, call, r); got.Why != "the way out depends on more than the names of calls" {
		t.Errorf("behind a validator: %+v", got)
	}
	s, call, r = refusal(t, validated, "", "other")
	if got := finder.Remedy(s, call, r); !got.None {
		t.Errorf("of the default: %+v", got)
	}
}

// TestRemedyThatHasHappened checks the remedy when another call of the session has meanwhile
// enabled the refused call.
func TestRemedyThatHasHappened(t *testing.T) {
	p, o := build(t, map[string]string{"policy.rules": "require backup before delete\n"})
	_, call, r := refusal(t, p, "", "delete")
	now, ok := begin(p, p.NewState(nil), callOf("backup"))
	if !ok {
		t.Fatal("backup is refused")
	}
	got := verify.NewRemedyFinder(p, o).Remedy(settle(p, now.state, now.number, gate.Success), call, r)
	if text := got.Sentence(call.Tool); text != "Call `delete` again: it is possible now." {
		t.Errorf("%q of %+v", text, got)
	}
}

func TestRemediesOfKnownTools(t *testing.T) {
	f, _ := rules.Parse("policy.rules", []byte("require backup before delete"))
	compiled, err := rules.Compile(f)
	if err != nil {
		t.Fatal(err)
	}
	p, err := gate.NewPolicy(compiled.Nets, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, call, r := refusal(t, p, "", "delete")
	known := []verify.Tool{{Name: "up__backup", Also: []gate.Name{{Text: "backup", Certain: true}}}, {Name: "delete"}}
	got := verify.NewRemedyFinder(p, verify.Options{Tools: known}).Remedy(s, call, r)
	if calls := got.Calls(); !slices.Equal(calls, []string{"up__backup"}) {
		t.Errorf("calls %v: %+v", calls, got)
	}
	got = verify.NewRemedyFinder(p, verify.Options{Tools: known[1:]}).Remedy(s, call, r)
	if !got.None {
		t.Errorf("without the tool that would do: %+v", got)
	}
}

// TestDoubtfulRemedy checks that calls without known arguments are not reported as a remedy.
func TestDoubtfulRemedy(t *testing.T) {
	p, o := build(t, map[string]string{"policy.rules": "map sh.c /^x{9}y?$/ as long\nmap sh.c /x{3}/ as short\nblock short\nrequire long before pay\n", "known": ""})
	s, call, r := refusal(t, p, "", "pay")
	got := verify.NewRemedyFinder(p, o).Remedy(s, call, r)
	if got.Found || got.None || got.Why != "no known arguments match the maps in the way that this requires" {
		t.Errorf("%+v", got)
	}
}

// TestRandomRemedies compares remedies with the gate. Each remedy must lead to an admission, none
// may be longer than necessary, and None must be correct.
func TestRandomRemedies(t *testing.T) {
	for name, make := range map[string]func(*testing.T, uint64) *trial{"usual": newTrial, "features": newFeatureTrial} {
		t.Run(name, func(t *testing.T) { randomRemedies(t, make) })
	}
}

func randomRemedies(t *testing.T, make func(*testing.T, uint64) *trial) {
	from, count := soak.Range(t, 40)
	stats := map[string]int{}
	for seed := from; seed < from+uint64(count) && !t.Failed(); seed++ {
		tr := make(t, seed)
		if tr == nil || !tr.known || slices.ContainsFunc(tr.brute.calls, isTick) {
			continue // unknown tools are not part of a remedy, and ticks are not calls
		}
		tr.remedies(wander(tr, rand.New(rand.NewPCG(seed, 2))), stats)
	}
	t.Log(stats)
	if count >= 40 && (stats["found"] == 0 || stats["none"] == 0) {
		t.Error("the policies are too simple to say anything")
	}
}

// remedies compares the remedies for all refusals in a state.
func (tr *trial) remedies(s *gate.State, stats map[string]int) {
	finder := verify.NewRemedyFinder(tr.policy, verify.Options{})
	for c, call := range tr.brute.calls {
		d, _ := tr.policy.Decide(s, call, nil)
		r, refused := d.(*gate.Refusal)
		if !refused {
			continue
		}
		length, closed := tr.brute.way(s, c)
		switch remedy := finder.Remedy(s, call, r); {
		case remedy.Found:
			stats["found"]++
			if closed && length != len(remedy.Steps) {
				tr.errorf("%s %s: remedy %v, brute force %d", call.Tool, call.Args, remedy.Calls(), length)
			}
			tr.follow(s, call, remedy)
		case remedy.None:
			stats["none"]++
			if length >= 0 {
				tr.errorf("%s %s: no remedy, brute force %d", call.Tool, call.Args, length)
			}
		default:
			stats[remedy.Why]++
		}
	}
}

// follow makes the calls of a remedy and then the refused call.
func (tr *trial) follow(s *gate.State, call gate.Call, r verify.Remedy) {
	for _, step := range r.Steps {
		now, ok := begin(tr.policy, s, gate.Call{Tool: step.Tool, Args: []byte(step.Args)})
		if !ok {
			tr.errorf("%s %s: %s of the remedy is refused", call.Tool, call.Args, step.Tool)
			return
		}
		s = settle(tr.policy, now.state, now.number, gate.Success)
	}
	if _, ok := begin(tr.policy, s, call); !ok {
		tr.errorf("%s %s: refused after the remedy %v", call.Tool, call.Args, r.Calls())
	}
}

// wander makes a few calls.
func wander(tr *trial, dice *rand.Rand) *gate.State {
	s := tr.policy.NewState(nil)
	for range dice.IntN(6) {
		now, ok := begin(tr.policy, s, tr.brute.calls[dice.IntN(len(tr.brute.calls))])
		if ok {
			s = settle(tr.policy, now.state, now.number, gate.Outcome(dice.IntN(3)))
		}
	}
	return s
}

// way returns the number of successful calls needed before the call is admitted, or -1 if it never
// is. closed reports whether everything was explored.
func (b *brute) way(from *gate.State, call int) (length int, closed bool) {
	layer, seen := []*gate.State{from}, map[string]bool{}
	for length := 0; len(layer) > 0; length++ {
		var next []*gate.State
		for _, s := range layer {
			if _, ok := begin(b.policy, s, b.calls[call]); ok {
				return length, true
			}
			for _, c := range b.calls {
				now, ok := begin(b.policy, s, c)
				if !ok {
					continue
				}
				after := settle(b.policy, now.state, now.number, gate.Success)
				key := sameState(after)
				if !seen[key] {
					seen[key] = true
					next = append(next, after)
				}
			}
		}
		if len(seen) > bruteStates {
			return -1, false
		}
		layer = next
	}
	return -1, true
}

func ExampleRemedyFinder() {
	f, _ := rules.Parse("policy.rules", []byte("require lint before test\nrequire test before deploy"))
	compiled, err := rules.Compile(f)
	if err != nil {
		panic(err)
	}
	p, err := gate.NewPolicy(compiled.Nets, gate.PolicyOptions{})
	if err != nil {
		panic(err)
	}
	session := gate.NewSession(p, gate.SessionOptions{})
	call := gate.Call{Tool: "deploy"}
	refusal := session.Decide(call, nil).(*gate.Refusal)
	remedy := verify.NewRemedyFinder(p, verify.Options{}).Remedy(session.Snapshot(), call, refusal)
	fmt.Println(remedy.Sentence(call.Tool))
	// Output: Way out: call `lint`, then `test`; after that `deploy` is allowed.
}
