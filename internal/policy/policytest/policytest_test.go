package policytest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
)

func ExampleLoader() {
	dir, err := os.MkdirTemp("", "policytest")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.WriteFile(filepath.Join(dir, "safety.rules"), []byte("require backup before delete\nblock rm"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	file, err := Parse(filepath.Join(dir, "safety_test.yaml"), []byte(`
tests:
  - name: a delete needs a backup
    steps:
      - { call: delete, reason: requires a successful call to backup }
      - { call: backup }
      - { call: delete }
  - name: two deletes need two
    steps: [{ call: backup }, { call: delete }, { call: delete }]
`))
	if err != nil {
		fmt.Println(config.Text(err))
		return
	}
	loader := Loader{Cover: true}
	policy, err := loader.Load(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range file.Tests {
		r := policy.Run(&file.Tests[i])
		fmt.Println(r.Name, r.Failure == nil)
		if r.Failure != nil {
			fmt.Printf("step %d: expected %s, got %s\n", len(r.Steps), r.Failure.Expected, r.Failure.Got)
		}
	}
	coverage := loader.Coverage()
	for _, i := range coverage.Items {
		fmt.Println(i.Kind, i.Net, i.Name, i.Hits)
	}
	fmt.Println(coverage.Percent, "%")
	// Output:
	// a delete needs a backup true
	// two deletes need two false
	// step 3: expected allow, got refuse
	// rule require-backup-before-delete  2
	// transition require-backup-before-delete do-backup 2
	// transition require-backup-before-delete do-delete 2
	// rule block-rm  0
	// 75 %
}

// folder creates a directory with the given files. Each file is given as its name, a newline, and
// its text.
func folder(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		name, text, _ := strings.Cut(f, "\n")
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// outcome runs a test's steps under rules and returns the result.
func outcome(t *testing.T, rules, test string) string {
	t.Helper()
	dir := folder(t, "p.rules\n"+rules)
	f, err := Parse(filepath.Join(dir, "p_test.yaml"), []byte("tests:\n- name: t\n"+test))
	if err != nil {
		return strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "")
	}
	var l Loader
	p, err := l.Load(f)
	if err != nil {
		t.Fatal(err)
	}
	r := p.Run(&f.Tests[0])
	var verdicts []string
	for _, s := range r.Steps {
		verdicts = append(verdicts, s.Verdict)
	}
	text := strings.Join(verdicts, " ")
	if r.Failure != nil {
		text += ": expected " + r.Failure.Expected + ", got " + r.Failure.Got
	}
	return strings.ReplaceAll(text, dir+string(filepath.Separator), "")
}

func TestOutcomes(t *testing.T) {
	const approve = "require human-approval before deploy\nlimit deploy to 1 per session"
	tests := []struct{ name, rules, test, want string }{
		{"nobody is there", approve, "  steps: [{call: deploy}]", "ask: expected allow, got ask"},
		{"asked, and nobody is there", approve, "  steps: [{call: deploy, expect: ask}, {call: deploy, approve: true}]", "ask allow"},
		{"approved", approve, "  steps: [{call: deploy, approve: true}, {call: deploy, approve: true, reason: limit}]", "allow refuse"},
		{"asked and approved", approve, "  steps: [{call: deploy, expect: ask, approve: true}, {call: deploy, reason: limit}]", "ask refuse"},
		{"asked and denied", approve, "  steps: [{call: deploy, expect: ask, approve: false}, {call: deploy, approve: true}]", "ask allow"},
		{"denied", approve, "  steps: [{call: deploy, approve: false}]", "refuse"},
		{"denied without a question", approve, "  steps: [{call: other, approve: false}]", "allow: expected refuse, got allow"},
		{"approved without a question", approve, "  steps: [{call: other, expect: ask, approve: true}]", "allow: expected ask, got allow"},
		{"approved and not asked is a call that passes", approve, "  steps: [{call: other, approve: true}]", "allow"},
		{"a question has a rule", approve, "  steps: [{call: deploy, expect: ask, rule: 'p.rules:1', reason: approval}]", "ask"},
		{"another rule", approve, "  steps: [{call: deploy, expect: ask, rule: 'p.rules:2'}]", "ask: expected ask by p.rules:2, got ask by p.rules:1:1 (approve-before-deploy)"},
		{"a rule with its column", approve, "  steps: [{call: deploy, expect: ask, rule: 'p.rules:1:1'}]", "ask"},
		{"another column", approve, "  steps: [{call: deploy, expect: ask, rule: './p.rules:1:2'}]", "ask: expected ask by ./p.rules:1:2, got ask by p.rules:1:1 (approve-before-deploy)"},
		{"a net", approve, "  steps: [{call: deploy, expect: ask, rule: approve-before-deploy}]", "ask"},
		{"another net", approve, "  steps: [{call: deploy, expect: ask, rule: limit-deploy-1}]", "ask: expected ask by limit-deploy-1, got ask by p.rules:1:1 (approve-before-deploy)"},
		{"a net that is not there", approve, "  steps: [{call: deploy, expect: ask, rule: zebra}]", "ask: expected ask by zebra (unknown net), got ask by p.rules:1:1 (approve-before-deploy)"},
		{"results", "require a before b", "  steps: [{call: a, result: error}, {call: b, expect: refuse}, {call: a, result: unknown, as: x}, {call: b, expect: refuse}, {settle: {call: x}}, {call: b, expect: refuse}, {call: a}, {call: b}]", "allow refuse allow refuse  refuse allow allow"},
		{"a call in flight", "require a before b", "  steps: [{call: a, result: pending}, {settle: {call: 1, result: failure}}, {call: b, reason: '/^B REQ/i'}]", "allow  refuse"},
		{"a call settles once", "require a before b", "  steps: [{call: a, result: pending}, {settle: {call: '1'}}, {settle: {call: 1, result: unknown}}]", "allow  : expected step 1 settles, got its call is already settled"},
		{"names", "map a.x y as z\nblock z", "  steps: [{call: a, args: {x: y}, names: [a, z], expect: refuse}, {call: a, names: [z]}]", "refuse allow: expected the name \"z\", got the names a"},
		{"sessions", "limit a to 1 per session", "  sessions: {one: ann, two: bob}\n  steps: [{call: a}, {call: a, session: two}, {call: a, session: one, expect: refuse}]", "allow allow refuse"},
		{"time passes while a call is in flight", "require human-approval before a\nlimit b to 1 per session", "  steps: [{after: 2m}, {call: b, after: 1h}]", " allow"},
		{"time gives back", "limit b to 1 per hour", "  steps: [{call: b}, {call: b, reason: limit of 1 call per hour}, {call: b, after: 59m, expect: refuse}, {call: b, after: 1m}]", "allow refuse refuse allow"},
		{"sessions of one user", "limit a to 1 per user", "  sessions: {one: ann, two: bob, three: ann}\n  steps: [{call: a}, {call: a, session: two}, {call: a, session: three, expect: refuse}]", "allow allow refuse"},
		{"in shadow", "shadow block a\nshadow require human-approval before b", "  steps: [{call: a, would: refuse, reason: is blocked, rule: 'p.rules:1'}, {call: b, would: ask}, {call: c, would: ask}]", "allow allow allow: expected in shadow ask, got in shadow allow"},
		{"another reason in shadow", "shadow block a", "  steps: [{call: a, would: refuse, reason: x}]", "allow: expected in shadow refuse, reason \"x\", got in shadow refuse, for a different reason"},
		{"another rule in shadow", "shadow block a", "  steps: [{call: a, would: refuse, rule: block-b}]", "allow: expected in shadow refuse by block-b (unknown net; did you mean block-a?), got in shadow refuse by p.rules:1:1 (block-a)"},
		{"times", "limit a to 2 per session", "  steps: [{call: a, times: 2}, {call: a, times: 2, expect: refuse}]", "allow refuse"},
		{"once too often", "limit a to 2 per session", "  steps: [{call: a, times: 4}]", "refuse: expected allow, got refuse, call 3 of 4"},
		{"annotations", `map a when "has(annotations.danger) && annotations.danger" as danger` + "\nblock danger", "  steps: [{call: a}, {call: a, annotations: {danger: true}, names: [danger], expect: refuse}]", "allow refuse"},
		{"a counterexample", "require a before b", "  events: [{type: call, id: '1', tool: a, args: {x: 1}, approve: true}, {type: result, id: '1', outcome: success}, {type: call, id: '2', tool: b}]", "allow  allow"},
		{"a counterexample that is none", "require a before b", "  events: [{type: call, id: '2', tool: b, approve: true}]", "refuse: expected allow, got refuse"},
		{"a counterexample that is none any more", "require a before b", "  expect: refuse\n  events: [{type: call, id: '1', tool: c}, {type: call, id: '2', tool: b}, {type: result, id: '1', outcome: failure}]", "allow refuse "},
		{"a counterexample that takes time", "limit a to 1 per minute", "  events: [{type: call, id: '1', tool: a}, {type: wait, for: 1m0s}, {type: call, id: '2', tool: a}]", "allow  allow"},
		{"a counterexample with many calls", "limit a to 3 per session", "  events: [{type: call, id: '1', tool: a, times: 3}, {type: call, id: '2', tool: a}]\n  expect: refuse", "allow refuse"},
		{"a counterexample with names", "block gh.push", "  events: [{type: call, id: '1', tool: push, also: [gh.push]}]\n  expect: refuse", "refuse"},
		{"a counterexample with a weak name", "block push unless gh.push", "  events: [{type: call, id: '1', tool: push, also: [gh.push], weak: [gh.push]}]\n  expect: refuse", "refuse"},
		{"a counterexample that asks", approve, "  expect: ask\n  events: [{type: call, id: '1', tool: deploy, approve: false}]", "ask"},
		{"reasons with a slash are words", "block a", "  steps: [{call: a, reason: /tmp}]", "refuse: expected refuse, reason \"/tmp\", got refuse, for a different reason"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, outcome(t, tt.rules, tt.test)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSteps(t *testing.T) {
	tests := []struct {
		step Step
		want string
	}{
		{Step{Tool: "a", Args: []byte(`{"b":1}`)}, `a {"b":1}`},
		{Step{Tool: "a", Args: []byte(`{"b":"` + strings.Repeat("ä", 200) + `"}`)}, `a {"b":"` + strings.Repeat("ä", 114) + "..."},
		{Step{Tool: "a"}, "a"},
		{Step{Tool: "a", Times: 3}, "a, 3 times"},
		{Step{After: 90e9}, "after 1m30s"},
		{Step{Settles: 2, Result: "error"}, "settle step 2 as error"},
	}
	for _, tt := range tests {
		if got := tt.step.Summary(); got != tt.want {
			t.Errorf("%+v is %q, want %q", tt.step, got, tt.want)
		}
	}
	if got := blocksText([]gate.Block{}); got != "no net" {
		t.Errorf("no blocks are %q", got)
	}
}

func TestMistakes(t *testing.T) {
	const ok = "tests: [{name: a, steps: [{call: x}]}]"
	step := func(s string) string {
		return "tests:\n- name: a\n  steps:\n  - {call: p, result: pending, as: p}\n  - " + s
	}
	tests := []struct{ name, text, want string }{
		{"nothing", "", "1:1: the file is empty"},
		{"no tests", "rules: a.rules", `1:1: there are no tests (write "tests:" and below it "- name: ...")`},
		{"two policies", "config: a\nrules: b\n" + ok, "1:1: the policy is a configuration, or rules and nets, not both (omit config)"},
		{"a default alone", "default: deny\n" + ok, "1:1: default requires rules and nets: a configuration has its own default"},
		{"variables of rules", "rules: a\nenv: {A: b}\n" + ok, "1:1: env requires a configuration: rules and nets read no variables"},
		{"keys", "rulez: a\n" + ok, `1:1: unknown key "rulez" in a file of tests (did you mean "rules"?)`},
		{"no name", "tests: [{steps: [{call: x}]}]", "1:9: the test has no name"},
		{"no steps", "tests: [{name: a}]", `1:9: the test has no steps (write "steps:" and below it "- call: ...")`},
		{"names twice", "tests: [{name: a, steps: [{call: x}]}, {name: a, steps: [{call: x}]}]", `1:40: another test has the name "a"`},
		{"a misspelt key is one mistake", "tests: [{title: a, steps: [{cal: x}]}]", "1:10: unknown key \"title\" in a test\np:1:29: unknown key \"cal\" in a step (did you mean \"call\"?)"},
		{"no call", step("{args: {a: 1}}"), `5:5: the step makes no call (write "call: TOOL")`},
		{"nothing happens", step("{}"), `5:5: nothing happens in this step (write "call: TOOL")`},
		{"call and settle", step("{call: x, settle: {call: 1}}"), "5:5: a step makes a call or settles one, not both (write two steps)"},
		{"settle a later call", step("{settle: {call: 2}}"), `5:21: no open call has this number or name (give the call "result: pending", and "as: ..." for a name)`},
		{"settle a name", step("{settle: {call: q}}"), `5:21: no open call has this number or name (give the call "result: pending", and "as: ..." for a name)`},
		{"settle nothing", step("{settle: {call: [1]}}"), `5:21: "call" must be text, not a list`},
		{"settle as pending", step("{settle: {call: 1, result: pending}}"), `5:32: "result": unknown value "pending" (one of: success, failure, error, unknown)`},
		{"a name twice", step("{call: x, as: p}"), `5:5: an earlier call is named "p"`},
		{"no session", step("{call: x, session: b}"), `5:24: the test has no session "b" (list them before the steps: "sessions: { a: ann, b: bob }", each with its principal)`},
		{"too often", step("{call: x, times: 0}"), "5:22: times must be from 1 to 10000"},
		{"several that stay", step("{call: x, times: 2, result: unknown}"), "5:5: a repeated call cannot stay open or have a name (omit times, or the result and the name)"},
		{"steps and events", "tests: [{name: a, steps: [{call: x}], expect: ask}]", "1:9: a test must have either steps, or the events of a counterexample and the expected decision on its last call (omit events and expect)"},
		{"no event", "tests: [{name: a, events: [{type: call}]}]", "1:28: the call has no tool"},
		{"an end without a call", "tests: [{name: a, events: [{type: result, id: x, outcome: success}]}]", "1:28: no earlier call has this id"},
		{"a key of an event", "tests: [{name: a, events: [{tpe: call}]}]", `1:28: unknown field "tpe" (did you mean "type"?)`},
		{"another event", "tests: [{name: a, events: [{type: answer, approve: true}]}]", `1:28: a counterexample has no event of type "answer" (use call, result or wait)`},
		{"no consent", step("{call: x, approve: yes}"), `5:24: "approve" must be true or false, not text (write true)`},
		{"no pattern", step("{call: x, reason: '/(/'}"), "5:23: missing closing ): `(` (patterns are RE2)"},
		{"no reason", step("{call: x, reason: 1}"), `5:23: "reason" must be text, not a number (put it in quotes)`},
		{"in shadow and refused", step("{call: x, would: ask, approve: false}"), `5:5: would applies only to a call that passes (write "expect: allow", or omit would)`},
		{"a reason to pass", step("{call: x, expect: allow, rule: a}"), `5:5: a call that passes has neither a reason nor a rule (omit them, or write "expect: refuse")`},
		{"to pass without consent", step("{call: x, expect: allow, approve: false}"), `5:5: a call that is not approved does not pass (write "approve: true", or omit approve if no approval is required)`},
		{"a result that is what the call returns", step("{call: x, result: {a: 1}}"), `5:23: result must be an outcome, such as success (write the returned result under "returns")`},
		{"a failure that returns", step("{call: x, result: failure, returns: {a: 1}}"), "5:5: only a success returns something (omit returns)"},
		{"a settlement that returns", step("{call: x, result: unknown}\n  - {settle: {call: 1, result: failure, returns: 1}}"), "6:14: only a success returns something (omit returns)"},
		{"a result of nothing", step("{call: x, expect: ask, result: failure}"), "5:5: a call that is not admitted has no result (omit result)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("p", []byte(tt.text))
			if err == nil {
				t.Fatal("it is taken")
			}
			if diff := cmp.Diff("p:"+tt.want, err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPolicies(t *testing.T) {
	const net = "a.net.yaml\nname: n\nplaces: [p]\ninitialMarking: {p: 1}\ntransitions: [{name: t, inputs: [p], outputs: [], tools: [x]}]"
	const cfg = "petrigate.yaml\nversion: 1\nmcpServers: {gh: {url: 'http://localhost/${PLACE}'}}\nrules: 'block gh.push'\n"
	tests := []struct {
		name   string
		files  []string
		source string
		want   string // names of the nets, or the error
	}{
		{"beside it", []string{net, "a.rules\nblock y", "b.rules\nblock z"}, "", "block-y block-z n"},
		{"one of them", []string{net, "a.rules\nblock y", "b.rules\nblock z"}, "rules: b.rules", "block-z"},
		{"several", []string{net, "a.rules\nblock y", "b.rules\nblock z"}, "rules: [b.rules]\nnets: [a.net.yaml]\ndefault: deny", "block-z n"},
		{"a configuration beside it", []string{net, cfg}, "env: {PLACE: x}", "block-gh.push"},
		{"a configuration by name", []string{"sub/" + cfg, "a.rules\nblock y"}, "config: sub/petrigate.yaml\nenv: {PLACE: x}", "block-gh.push"},
		{"nothing", nil, "", `DIR/p_test.yaml: the tests have no policy: their folder contains no petrigate.yaml and no *.rules (name it: "config: ..." or "rules: ...")`},
		{"an absolute path", []string{"b.rules\nblock z"}, "rules: DIR/b.rules", "block-z"},
		{"no rules", nil, "\nrules: a.rules", `DIR/p_test.yaml:2:8: no file matches "DIR/a.rules"`},
		{"no nets", nil, "nets: a.net.yaml", `DIR/p_test.yaml:1:7: no file matches "DIR/a.net.yaml"`},
		{"no configuration", nil, "config: a.yaml", "DIR/p_test.yaml:1:9: DIR/a.yaml: reading the configuration: no such file or directory"},
		{"a mistake in rules", []string{"a.rules\nblok y"}, "", "DIR/a.rules:1:1: unknown statement \"blok\" (did you mean \"block\"?)"},
		{"a mistake in nets", []string{"a.net.yaml\nname: 1"}, "", "DIR/a.net.yaml:1:7: \"name\" must be text, not a number (put it in quotes)"},
		{"a variable that is not set", []string{cfg}, "env: {OTHER: x}", "block-gh.push"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := folder(t, tt.files...)
			f, err := Parse(filepath.Join(dir, "p_test.yaml"), []byte(strings.ReplaceAll(tt.source, "DIR", dir)+"\ntests: [{name: a, steps: [{call: x}]}]"))
			if err != nil {
				t.Fatal(err)
			}
			l := Loader{Cover: true}
			p, err := l.Load(f)
			got := ""
			if err != nil {
				got = strings.ReplaceAll(err.Error(), dir, "DIR")
			} else {
				var nets []string
				for _, n := range p.Result.Policy.Nets() {
					nets = append(nets, n.Name)
				}
				got = strings.Join(nets, " ")
				if again, err := l.Load(f); again != p || err != nil || len(l.order) != 1 {
					t.Errorf("the second time it is loaded again: %v", err)
				}
			}
			if diff := cmp.Diff(tt.want, strings.SplitN(got, "\n", 2)[0]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFind(t *testing.T) {
	dir := folder(t, "a_test.yaml\n", "b.yaml\n", "sub/c_test.yaml\n", "sub/.git/d_test.yaml\n", "sub/node_modules/e_test.yaml\n", "none/f.rules\n")
	tests := []struct{ path, want string }{
		{"", "a_test.yaml"},
		{"/...", "a_test.yaml sub/c_test.yaml"},
		{"/sub", "sub/c_test.yaml"},
		{"/b.yaml", "b.yaml"},
		{"/sub/.git", "sub/.git/d_test.yaml"},
		{"/none", "no file *_test.yaml in DIR/none; write DIR/none/... to include its subfolders"},
		{"/none/...", "no file *_test.yaml in or under DIR/none"},
		{"/gone", "looking for tests in DIR/gone: no such file or directory"},
		{"/b.yaml/...", "looking for tests in DIR/b.yaml: it is not a folder"},
	}
	for _, tt := range tests {
		found, err := Find(dir + tt.path)
		got := ""
		for _, name := range found {
			rel, _ := filepath.Rel(dir, name)
			got += " " + filepath.ToSlash(rel)
		}
		if got = strings.TrimSpace(got); err != nil {
			got = strings.ReplaceAll(err.Error(), dir, "DIR")
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.path, got, tt.want)
		}
	}
}

func TestCasesThatCannotBeRead(t *testing.T) {
	_, err := RunCases(iotest.ErrReader(errors.New("gone")))
	if err == nil || err.Error() != "reading cases: gone" {
		t.Error(err)
	}
}

func TestCases(t *testing.T) {
	const good = `{"case":{"name":"one","rules":"block a","events":[{"type":"call","id":"1","tool":"a"}]},"expect":{"nets":[{"name":"block-a","states":2}],"final":[{"name":"block-a","active":true,"marking":{"ready":1},"inFlight":0}],"decisions":[{"i":0,"decision":"refuse","kind":"blocked","nets":["block-a"]}]}}`
	lines := []string{
		good,
		strings.Replace(good, `"refuse"`, `"allow"`, 1),
		`{"name":"bare","rules":"block a","events":[]}`,
		`{"name":"broken","rules":"blok a"}`,
		`{"case":{"name":"known to be broken","rules":"blok a"},"expect":{"errors":[{"line":1}]}}`,
		`no case`,
	}
	cases, err := RunCases(strings.NewReader(strings.Join(lines, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	want := []TestResult{
		{Name: "one", Line: 1, Result: "pass"},
		{Name: "one", Line: 2, Result: "fail", Failure: &Failure{Got: `decisions[0].decision is "refuse", expected "allow"`}},
		{Name: "bare", Line: 3, Result: "unchecked"},
		{Name: "broken", Line: 4, Result: "fail", Failure: &Failure{Got: `unknown statement "blok"`}},
		{Name: "known to be broken", Line: 5, Result: "pass"},
		{Line: 6, Result: "fail", Failure: &Failure{Got: "not a case: invalid character 'o' in literal null (expecting 'u')"}},
	}
	if diff := cmp.Diff(want, cases, cmpopts.IgnoreUnexported(TestResult{}, Failure{})); diff != "" {
		t.Error(diff)
	}
}
