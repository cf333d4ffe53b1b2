package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/policytest"
	"github.com/petrigate/petrigate/internal/policy/sandbox"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/rules"
)

const (
	pipelineNet = `{"name":"pipeline","places":["idle","building","built","done"],"initialMarking":{"idle":1},"terminalPlaces":["done"],
		"transitions":[{"name":"build","inputs":["idle"],"outputs":["built"],"tools":["build"],"deferred":true},
		{"name":"deploy","inputs":["built"],"outputs":["done"],"tools":["deploy"]}],
		"prove":["deadlock-free","conserved","no-terminal-states","exclusive idle, built","exclusive idle, done"]}`
	forkNet = `{"name":"fork","places":["start","left","right"],"initialMarking":{"start":1},
		"map":[{"tool":"sh","field":"cmd","word":"split","as":"split"}],
		"transitions":[{"name":"split","inputs":["start"],"outputs":["left","right"],"tools":["split"]},
		{"name":"join","inputs":["left","right"],"outputs":["start"],"tools":["join"],"deferred":true}],
		"prove":["conserved","deadlock-free","no-terminal-states","exclusive left, right","exclusive start, left"]}`
	// canaryNet is a net for a release, which is in one of five places.
	canaryNet = `{"name":"release","places":["idle","building","tested","staged","canary"],"initialMarking":{"idle":1},
		"transitions":[{"name":"build","inputs":["idle"],"outputs":["building"],"tools":["build"],"deferred":true},
		{"name":"test","inputs":["building"],"outputs":["tested"],"tools":["test"],"deferred":true},
		{"name":"stage","inputs":["tested"],"outputs":["staged"],"tools":["stage"],"deferred":true},
		{"name":"roll","inputs":["staged"],"outputs":["canary"],"tools":["roll"],"deferred":true},
		{"name":"promote","inputs":["canary"],"outputs":["idle"],"tools":["promote"],"deferred":true}],
		"prove":["exclusive building, canary","exclusive idle, building","exclusive idle, building, tested, staged, canary","conserved"]}`
)

// leaseNet is like canaryNet, but its test returns its token after an unknown outcome.
var leaseNet = strings.Replace(canaryNet, `"tools":["test"]`, `"tools":["test"],"unknown":"release"`, 1)

// replayPolicies are policies with the results of their claims, in order. Their counterexamples and
// shortest runs are replayed.
var replayPolicies = []struct {
	rules, nets string
	want        string // first letters of the results
}{
	{"require test before deploy\nprove never deploy before test\nprove never deploy\nprove reachable deploy\nprove always-possible deploy\nprove at-most 1 deploy per session", "", "prppr"},
	{"require test before deploy\nrequire lint before test\nprove never deploy before lint\nprove never test before lint\nprove at-most 2 test per session", "", "rpr"},
	{"limit push to 3 per session\nprove at-most 3 push per session\nprove at-most 2 push per session\nprove always-possible push\nprove deadlock-free limit-push-3\nprove conserved limit-push-3", "", "prrrr"},
	{"limit push to 1 per test\nlimit test to 1 per session\nprove at-most 2 push per session\nprove at-most 1 push per session\nprove always-possible push", "", "prr"},
	{"limit push to 1000000 per session\nprove at-most 1000000 push per session\nprove at-most 90 push per session\nprove reachable push", "", "prp"},
	{"require human-approval before delete\nprove never delete without human-approval\nprove never other without human-approval\nprove never delete", "", "prr"},
	{"map bash.command /rm\\s+-r/ as delete\nrequire human-approval before delete\nprove never delete without human-approval\nprove never bash without human-approval\nprove never delete", "", "prr"},
	{"map bash.command rm as delete\nmap bash.command cp as backup\nrequire backup before delete\nprove never delete before backup\nprove at-most 1 delete per session\nprove never backup", "", "prr"},
	{"require x before y\nrequire y before x\nprove reachable x\nprove never y\nprove always-possible y", "", "rpr"},
	{"block git_*\nprove never git_push\nprove never git*\nprove reachable git_push", "", "prr"},
	{"block git_push\nprove never git_*\nprove never git_push", "", "rp"},
	{"limit test to 1 per deploy\nrequire test before deploy\nprove always-possible deploy\nprove deadlock-free require-test-before-deploy", "", "rr"},
	{"block chat.send\nrequire chat.read before chat.delete\nprove never chat.send\nprove never chat.delete before chat.read\nprove never \"chat\"", "", "ppr"},
	{"require human-approval before build", pipelineNet, "pprpp"},
	{"limit join to 1 per session", forkNet, "rrrrp"},
	{"prove never split before join\nprove exclusive left, right\nprove never join before split", forkNet, "rrrrpprp"},
	{"", canaryNet, "pppp"},
	{"", leaseNet, "rrrp"},
}

func TestReplay(t *testing.T) {
	for i, test := range replayPolicies {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			if got := replayPolicy(t, test.rules, test.nets); got != test.want {
				t.Errorf("proofs: %s, want %s", got, test.want)
			}
		})
	}
}

// replayPolicy replays all findings about a policy and returns the results of its claims.
func replayPolicy(t *testing.T, text, net string) (results string) {
	t.Helper()
	source := policy.Source{Rules: []config.RuleText{{File: "t.rules", Text: text}}}
	nets := []json.RawMessage{}
	if net != "" {
		var err error
		if source.Nets, err = config.ParseNet("t.yaml", []byte(net)); err != nil {
			t.Fatal(err)
		}
		nets = append(nets, json.RawMessage(net))
	}
	result, err := policy.Build(source)
	if err != nil {
		t.Fatal(err)
	}
	v, err := Run(t.Context(), result, source, ToolSet{}, Effort{Time: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	at := &site{t, text, nets}
	for _, n := range v.names {
		at.reaches(n)
	}
	for _, p := range v.proofs {
		results += p.Result.String()[:1]
		at.refutes(p)
	}
	return results
}

// TestReplayRandom replays the findings about random policies.
func TestReplayRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 14))
	name := func() string { return []string{"a", "b", "c", "d", "t", "l", "m"}[r.IntN(7)] }
	forms := []func() string{
		func() string { return fmt.Sprintf("require %s before %s", name(), name()) },
		func() string { return fmt.Sprintf("require %s before %s", name(), name()) },
		func() string { return "require human-approval before " + name() },
		func() string { return "block " + name() },
		func() string { return fmt.Sprintf("limit %s to %d per session", name(), 1+r.IntN(3)) },
		func() string {
			return fmt.Sprintf("limit %s to %d per %s", []string{"a", "b", "c"}[r.IntN(3)], 1+r.IntN(2), []string{"d", "t"}[r.IntN(2)])
		},
		func() string { return fmt.Sprintf("prove never %s before %s", name(), name()) },
		func() string { return "prove never " + name() },
		func() string { return "prove always-possible " + name() },
		func() string { return fmt.Sprintf("prove never %s without human-approval", name()) },
		func() string { return fmt.Sprintf("prove at-most %d %s per session", 1+r.IntN(4), name()) },
	}
	found := map[rune]int{}
	for range 400 {
		text := "map t.f x as l\nmap t.f /y+/ as m\n"
		for range 3 + r.IntN(8) {
			text += forms[r.IntN(len(forms))]() + "\n"
		}
		for _, result := range replayPolicy(t, text, "") {
			found[result]++
		}
		if t.Failed() {
			t.Fatal(text)
		}
	}
	if found['p'] < 100 || found['r'] < 100 {
		t.Errorf("claims: %v", found)
	}
	t.Logf("%d proved, %d refuted, %d unknown", found['p'], found['r'], found['u'])
}

// A site is a policy in the format used in cases.
type site struct {
	*testing.T
	rules string
	nets  []json.RawMessage
}

type replayAnswer struct {
	Errors    []any
	Decisions []struct{ Decision string }
	Final     []struct {
		Name     string
		Marking  map[string]int
		InFlight int
	}
}

// play plays events with eval and fails the test if a call is not admitted.
func (s *site) play(what string, events []sandbox.Event) replayAnswer {
	s.Helper()
	line, err := json.Marshal(map[string]any{"name": what, "rules": s.rules, "nets": s.nets, "events": events})
	if err != nil {
		s.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := policytest.Eval(bytes.NewReader(line), &out); err != nil {
		s.Fatal(err)
	}
	var a replayAnswer
	if err := json.Unmarshal(out.Bytes(), &a); err != nil || len(a.Errors) > 0 || len(a.Decisions) != len(events) {
		s.Fatalf("%s: %v %v", what, err, a.Errors)
	}
	for i, d := range a.Decisions {
		if want := map[string]string{"call": "allow", "result": "settled"}[events[i].Type]; d.Decision != want {
			s.Errorf("%s: event %d of %s is answered with %s", what, i, line, d.Decision)
		}
	}
	return a
}

// reaches checks that the run leads to the tool.
func (s *site) reaches(n verify.Name) {
	for _, way := range []verify.Trace{n.Shortest, n.Failing} {
		if len(way) == 0 {
			continue
		}
		s.play("to "+n.Tool.Name, ToolSet{}.Events(way))
		if calls := way.Calls(); calls[len(calls)-1] != n.Tool.Name {
			s.Errorf("the way to %s is %v", n.Tool.Name, calls)
		}
	}
}

// refutes checks that the run is a counterexample.
func (s *site) refutes(p claimProof) {
	if p.Result != verify.Refuted || len(p.Counterexample) == 0 {
		if p.Result == verify.Refuted && p.Kind <= rules.AtMost {
			s.Errorf("%s: no counterexample", p.Text)
		}
		return
	}
	a := s.play(p.Text, p.events(ToolSet{}))
	calls := p.Counterexample.Calls()
	switch p.Kind {
	case rules.Never, rules.NeverWithoutApproval:
		if last := calls[len(calls)-1]; !is(p.Tool, last) {
			s.Errorf("%s: the last call is %s", p.Text, last)
		}
	case rules.NeverBefore:
		s.before(p)
	case rules.AtMost:
		n := 0
		for _, step := range p.Counterexample {
			both := p.Tool.Name == "delete" && strings.Contains(step.Args, "rm") // in "rm and cp", the step needs only one of the names
			if !step.Ends && (is(p.Tool, step.Name) || both) {
				n += max(1, step.Times)
			}
		}
		if n <= p.Count {
			s.Errorf("%s: %d calls", p.Text, n)
		}
	case rules.AlwaysPossible, rules.DeadlockFree, rules.NoTerminalStates:
		s.stuck(p)
	case rules.Conserved, rules.Exclusive:
		s.marking(p, a)
	}
}

func is(tool gate.Tool, name string) bool {
	return tool.Name == name || tool.Kind == gate.Glob && strings.HasPrefix(name, strings.TrimSuffix(tool.Name, "*"))
}

// before checks that no success occurs between the last call and the call before it.
func (s *site) before(p claimProof) {
	done, good := false, false
	names := make(map[int]string)
	for _, step := range p.Counterexample {
		switch {
		case step.Ends && step.Outcome == gate.Success && is(p.First, names[step.Call]):
			done = true
		case !step.Ends && is(p.Tool, step.Name):
			good, done = !done, false
		}
		if !step.Ends {
			names[step.Call] = step.Name
		}
	}
	if !good {
		s.Errorf("%s: %v", p.Text, p.Counterexample)
	}
}

// stuck checks that the call, or every call that the net gates, is refused after the run.
func (s *site) stuck(p claimProof) {
	tools := []string{p.Tool.Name}
	if p.Kind != rules.AlwaysPossible {
		tools = map[string][]string{"pipeline": {"build", "deploy"}, "fork": {"join"}, "limit-push-3": {"push"}, "require-test-before-deploy": {"deploy"}}[p.Net]
	}
	for _, tool := range tools {
		call := sandbox.Event{Type: "call", ID: "last", Tool: tool, Approve: sandbox.Yes}
		if word := map[string]string{"l": "x", "m": "yy"}[tool]; word != "" { // names used in TestReplayRandom
			call.Tool, call.Args = "t", json.RawMessage(fmt.Sprintf(`{"f":%q}`, word))
		}
		events := append(slices.Clone(p.events(ToolSet{})), call)
		line, _ := json.Marshal(map[string]any{"rules": s.rules, "nets": s.nets, "events": events})
		var out bytes.Buffer
		if _, err := policytest.Eval(bytes.NewReader(line), &out); err != nil || !strings.Contains(out.String(), fmt.Sprintf(`{"i":%d,"decision":"refuse"`, len(events)-1)) {
			s.Errorf("%s: %s is not refused in the end: %s %s", p.Text, tool, line, out.String())
		}
	}
}

func (s *site) marking(p claimProof, a replayAnswer) {
	before := s.play("start", []sandbox.Event{})
	for i, n := range a.Final {
		if n.Name != p.Net {
			continue
		}
		marked := 0
		if slices.ContainsFunc(p.Counterexample, func(s verify.Step) bool { return s.Ends && s.Outcome == gate.Unknown }) {
			marked++ // the call may still run
		}
		for _, place := range p.Places {
			marked += min(1, n.Marking[place])
		}
		if p.Kind == rules.Conserved && sum(n.Marking) == sum(before.Final[i].Marking) || p.Kind == rules.Exclusive && marked < 2 {
			s.Errorf("%s: %v", p.Text, n.Marking)
		}
	}
}

func sum(m map[string]int) int {
	n := 0
	for _, tokens := range m {
		n += tokens
	}
	return n
}

// TestTraceLines checks that many equal calls are merged into one line, that a call that ends later
// has its own line, and that steps are counted by lines.
func TestTraceLines(t *testing.T) {
	trace := verify.Trace{{Call: 1, Tool: "a", Name: "a"}}
	for i := range 4 {
		trace = append(trace, verify.Step{Call: 2 + i, Tool: "x", Name: "x"})
	}
	trace = append(trace, verify.Step{Call: 1, Ends: true, Outcome: gate.Failure})
	for i := range 5 {
		trace = append(trace, verify.Step{Call: 6 + i, Tool: "x", Name: "x"}, verify.Step{Call: 6 + i, Ends: true, Outcome: gate.Success})
	}
	trace = append(trace, verify.Step{Call: 11, Tool: "x", Name: "x", Args: `{"y":1}`}, verify.Step{Wait: time.Second, Times: 3},
		verify.Step{Call: 12, Tool: "b", Name: "b", Times: 9}, verify.Step{Call: 13, Tool: "b", Name: "b"}, verify.Step{Call: 14, Tool: "b", Name: "b"},
		verify.Step{Call: 13, Ends: true}, verify.Step{Call: 15, Tool: "b", Name: "b", Times: 1})
	want := []string{
		"a begins", "x is admitted 4 times", "the a of step 1 fails", "x succeeds 5 times", `x (x {"y":1}) is admitted`, "3s pass",
		"b succeeds 9 times", "b begins", "b is admitted", "the b of step 8 ends with an unknown outcome", "b succeeds",
	}
	if diff := cmp.Diff(want, TraceLines(trace)); diff != "" {
		t.Error(diff)
	}
}

// TestTraceLinesFoldPairs checks that repeated pairs of calls are merged into one line.
func TestTraceLinesFoldPairs(t *testing.T) {
	var trace verify.Trace
	for i := range 3 {
		trace = append(trace,
			verify.Step{Call: 2*i + 1, Tool: "a", Name: "a"}, verify.Step{Call: 2*i + 1, Ends: true, Outcome: gate.Success},
			verify.Step{Call: 2*i + 2, Tool: "b", Name: "b"}, verify.Step{Call: 2*i + 2, Ends: true, Outcome: gate.Failure})
	}
	trace = append(trace, verify.Step{Call: 7, Tool: "a", Name: "a"})
	want := []string{"3 times: a succeeds, b fails", "a is admitted"}
	if diff := cmp.Diff(want, TraceLines(trace)); diff != "" {
		t.Error(diff)
	}
	want = []string{"a succeeds", "b fails", "a succeeds", "b fails"}
	if diff := cmp.Diff(want, TraceLines(trace[:8])); diff != "" {
		t.Error(diff)
	}
}
