package policy

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
)

// parseNets parses nets and fails the test if there is an error.
func parseNets(t *testing.T, src string) []config.Net {
	t.Helper()
	nets, err := config.ParseNet("n.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return nets
}

func ruleTexts(texts ...string) []config.RuleText {
	var rules []config.RuleText
	for i, text := range texts {
		rules = append(rules, config.RuleText{File: string(rune('a'+i)) + ".rules", Text: text})
	}
	return rules
}

const pipeline = `
name: pipeline
scope: session
places: [idle, built]
initialMarking: { idle: 1 }
terminalPlaces: [idle]
freeTools: [status]
reason: build first
map:
  - { tool: exec, field: command, word: deploy, as: deploy-it }
  - { tool: exec, field: command, pattern: '^build\b', as: build }
transitions:
  - { name: build, inputs: [idle], outputs: [built], tools: [build], deferred: true }
  - { name: deploy, type: manual, inputs: [built], outputs: [idle], tools: [deploy-it] }
`

func TestBuild(t *testing.T) {
	r, err := Build(Source{
		Rules:   ruleTexts("block rm\nlimit push to 3 per session\nblock rm", "block rm\nrequire human-approval before deploy"),
		Nets:    parseNets(t, pipeline),
		Default: "deny",
		Active:  []string{"pipeline"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range r.Nets {
		names = append(names, n.Name)
	}
	if diff := cmp.Diff([]string{"block-rm", "limit-push-3", "approve-before-deploy", "pipeline"}, names); diff != "" {
		t.Errorf("nets:\n%s", diff)
	}
	if len(r.Problems) != 1 || r.Problems[0].Code != "W001" || r.Problems[0].Excerpt == "" {
		t.Errorf("problems: %v", r.Problems)
	}
	s := gate.NewSession(r.Policy, gate.SessionOptions{})
	for _, step := range []struct {
		tool, args string
		kind       gate.Kind
		text       string
	}{
		{"rm", "{}", gate.KindBlocked, "rm is blocked and cannot be called."},
		{"other", "{}", gate.KindDefault, ""},
		{"exec", `{"command":"deploy now"}`, gate.KindBlocked, "build first"},
	} {
		refusal, ok := s.Decide(gate.Call{Tool: step.tool, Args: []byte(step.args)}, nil).(*gate.Refusal)
		if !ok || refusal.Kind != step.kind || step.text != "" && refusal.Text != step.text {
			t.Errorf("%s %s: %+v", step.tool, step.args, refusal)
		}
	}
}

// TestNetsJSON compares the descriptions of nets with the documented output of "check --json".
func TestNetsJSON(t *testing.T) {
	r, err := Build(Source{
		Rules: ruleTexts("block rm\nlimit push to 3 per session\nrequire a before b"),
		Nets: append(parseNets(t, pipeline), parseNets(t, `
name: endless
allowUnbounded: true
places: [p, q]
transitions:
  - { name: more, outputs: [p], tools: [more] }
  - { name: never, inputs: [q], tools: [never] }`)...),
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range r.Nets {
		text, err := json.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(text))
	}
	want := []string{
		`{"name":"block-rm","rule":{"file":"a.rules","line":1,"column":1},"states":2,"bounded":true,"deadlocks":1,"deadTransitions":["do-rm"],"invariants":[]}`,
		`{"name":"limit-push-3","rule":{"file":"a.rules","line":2,"column":1},"states":5,"bounded":true,"deadlocks":1,"deadTransitions":[],"invariants":[]}`,
		`{"name":"require-a-before-b","rule":{"file":"a.rules","line":3,"column":1},"states":3,"bounded":true,"deadlocks":0,"deadTransitions":[],"invariants":[]}`,
		`{"name":"pipeline","rule":{"file":"n.yaml","line":2,"column":1},"states":2,"bounded":true,"deadlocks":0,"deadTransitions":[],"invariants":[]}`,
		`{"name":"endless","rule":{"file":"n.yaml","line":2,"column":1},"states":null,"bounded":false,"deadlocks":null,"deadTransitions":[],"invariants":[]}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestProblems(t *testing.T) {
	tests := []struct {
		name   string
		source Source
		want   []string
	}{
		{"rules of two files", Source{Rules: ruleTexts("block rm\nblok x", "limit a to 3 per a")}, []string{
			`error E003 a.rules:2:1: unknown statement "blok" (did you mean "block"?)`,
			`error E010 b.rules:1:18: a would refill its own limit (write: per session)`,
		}},
		{"rules and nets at once", Source{Rules: ruleTexts("blok x"), Nets: []config.Net{
			{Name: "n", Position: config.Position{File: "n.yaml", Line: 1, Column: 1}, Transitions: []config.Transition{
				{Name: "t", Inputs: []string{"p"}, Tools: []string{"x"}, Position: config.Position{File: "n.yaml", Line: 4, Column: 3}},
				{Name: "u", Type: "manual"},
			}},
			{Name: "n", Position: config.Position{File: "n.yaml", Line: 9, Column: 1}},
		}}, []string{
			`error E003 a.rules:1:1: unknown statement "blok" (did you mean "block"?)`,
			`error E101 n.yaml:4:3: net "n": transition "t": unknown place "p" (the net has no places)`,
			`error E101 n.yaml:1:1: net "n": transition "u": the transition is manual and has no tools (a transition without tools fires by itself)`,
			`error E101 n.yaml:9:1: net "n": another net already has this name`,
		}},
		{"an unbounded net", Source{Nets: []config.Net{{Name: "n", Places: []string{"p"}, Transitions: []config.Transition{
			{Name: "t", Outputs: []string{"p"}, Tools: []string{"x"}},
		}}}}, []string{
			`error E101 net "n": the net is unbounded: repeating t adds tokens to p forever (add an input place that limits it, or set allowUnbounded)`,
		}},
		{"a pattern of a net", Source{Nets: []config.Net{{Name: "n", Map: []config.Map{
			{Tool: "t", Field: "f", Pattern: "(", As: "x", Position: config.Position{File: "n.yaml", Line: 3, Column: 5}},
		}}}}, []string{
			"error E102 n.yaml:3:5: net \"n\": invalid regex: missing closing ): `(` (patterns are RE2)",
		}},
		{"a default", Source{Default: "ask"}, []string{
			`error E104 the default "ask" is not supported ("allow" or "deny")`,
		}},
		{"active names", Source{Rules: ruleTexts("block rm"), Active: []string{"block-rm", "blok-rm"},
			ActivePosition: config.Position{File: "c.yaml", Line: 7, Column: 9}}, []string{
			`error E103 c.yaml:7:9: "block-rm" is the net of a rule, and rules are always active (leave it out)`,
			`error E103 c.yaml:7:9: no net "blok-rm" to activate`,
		}},
		{"what lets more through", Source{Nets: []config.Net{{Name: "n", Match: "first", FreeTools: []string{"read_*"},
			Map:    []config.Map{{Tool: "t", Field: "f", Word: "a", As: "x"}, {Tool: "t", Field: "f", Word: "b", As: "y"}},
			Places: []string{"p"}, Transitions: []config.Transition{{Name: "t", Inputs: []string{"p"}, Tools: []string{"a?"}, Deferred: true, Unknown: "release"}},
		}}}, []string{
			`warning W102 net "n": with "match: first", a call that matches several entries gets only the first one's name: "cp a && rm a" counts as a copy (omit match)`,
			`warning W103 net "n": the transition "t" treats a call with an unknown outcome as not made, but it may have been made`,
			`warning W104 net "n": the tools of a net are exact names, but "a?" looks like a pattern (use a rule for patterns)`,
			`warning W104 net "n": the tools of a net are exact names, but "read_*" looks like a pattern (use a rule for patterns)`,
			`warning W106 net "n": while "t" is in flight, only calls in the same session wait: two windows are two sessions (write scope: principal, or scope: session to keep it this way)`,
		}},
		{"tools of rules", Source{Tools: []string{"bash", "delete_file", "chat"}, Rules: ruleTexts(
			"map bahs.command rm as rm\nblock rm\nblock delte_file\nlimit delte_file to 3 per chat.send\nblock read_*\nblock *.drop\nblock delete_*\nblock \"chat.send\"")}, []string{
			`warning W016 a.rules:4:1: the limit is never reached: delte_file is blocked at a.rules:3:1`,
			`warning W101 a.rules:1:5: unknown tool "bahs", so this map never applies (did you mean "bash"?)`,
			`warning W101 a.rules:2:7: no call ever gets the name rm, so this rule never applies (the map at a.rules:1:1 never applies)`,
			`warning W101 a.rules:3:7: unknown tool "delte_file", so this rule never applies (did you mean "delete_file"?)`,
			`warning W101 a.rules:5:7: the pattern "read_*" matches no known tool, so this rule never applies`,
			`warning W101 a.rules:8:7: unknown tool "chat.send", so this rule never applies`,
		}},
		{"tools of nets", Source{Tools: []string{"bash"}, Nets: []config.Net{{Name: "n", FreeTools: []string{"bash", "bsh"},
			Map:    []config.Map{{Tool: "basj", Field: "f", Word: "a", As: "x"}},
			Places: []string{"p"}, Transitions: []config.Transition{{Name: "t", Inputs: []string{"p"}, Tools: []string{"x", "y"}, Unless: []string{"bahs"}}},
		}}}, []string{
			`warning W101 net "n": unknown tool "basj", so this map never applies (did you mean "bash"?)`,
			`warning W101 net "n": unknown tool "bsh", so this entry does nothing (did you mean "bash"?)`,
			`warning W101 net "n": unknown tool "y", so no call to it fires "t" (did you mean "x"?)`,
			`warning W101 net "n": unknown tool "bahs", so nothing is exempt as bahs (did you mean "bash"?)`,
		}},
		{"no tools at all", Source{Tools: []string{}, Rules: ruleTexts("block rm")}, []string{
			`warning W101 a.rules:1:7: unknown tool "rm", so this rule never applies`,
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r, err := Build(test.source)
			var got []string
			for _, p := range r.Problems {
				got = append(got, string(p.Severity)+" "+p.Code+" "+p.Error())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if failed := len(r.Problems.Of(diag.Error)) > 0; failed != (err != nil) || failed != (r.Policy == nil) {
				t.Errorf("error %v, policy %v", err, r.Policy)
			}
		})
	}
}

func TestProblemsAreErrors(t *testing.T) {
	_, err := Build(Source{Rules: ruleTexts("blok x\nblock")})
	var p diag.Problem
	if !errors.As(err, &p) || p.Line != 1 || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("%v, %+v", err, p)
	}
}

func TestFromConfig(t *testing.T) {
	c := &config.Config{Rules: ruleTexts("block rm"), Default: "deny", Active: []string{"block-rm"}}
	if s := FromConfig(c); len(s.Rules) != 1 || s.Default != "deny" || len(s.Active) != 1 {
		t.Errorf("%+v", s)
	}
}

// TestActiveLeavesRulesAlone checks that "active" in a configuration only selects hand-written nets
// and cannot disable a rule.
func TestActiveLeavesRulesAlone(t *testing.T) {
	source := Source{
		Rules:  []config.RuleText{{Text: "block rm"}},
		Nets:   []config.Net{{Name: "one", FreeTools: []string{"a"}}, {Name: "two", FreeTools: []string{"b"}}},
		Active: []string{"two"},
	}
	r, err := Build(source)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"block-rm", "two"}; !slices.Equal(r.Active, want) {
		t.Errorf("active are %v, want %v", r.Active, want)
	}
	s := gate.NewSession(r.Policy, gate.SessionOptions{Active: r.Active})
	if _, refused := s.Decide(gate.Call{Tool: "rm"}, nil).(*gate.Refusal); !refused {
		t.Error("rm passes")
	}
	source.Active = []string{}
	if r, err = Build(source); err != nil || !slices.Equal(r.Active, []string{"block-rm"}) {
		t.Errorf("%v, %v", r.Active, err)
	}
	source.Active = nil
	if r, err = Build(source); err != nil || r.Active != nil {
		t.Errorf("%v, %v", r.Active, err)
	}
}
