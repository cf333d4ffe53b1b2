package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClaims(t *testing.T) {
	r, err := Build(Source{
		Rules: ruleTexts("require a before b\nprove never b before \"a\"\nprove at-most 3 b* per session\nprove conserved require-a-before-b\nprove exclusive idle, built\nprove deadlock-free pipeline"),
		Nets:  parseNets(t, pipeline+"prove: [conserved, deadlock-free, no-terminal-states, \"exclusive built, idle\"]\n"),
	})
	if err != nil || len(r.Problems) > 0 {
		t.Fatal(err, r.Problems)
	}
	var got []string
	for _, c := range r.Claims {
		got = append(got, fmt.Sprintf("%s: %s = %s %v %v %d %q %q", c.Rule, c.Text, c.Kind, c.Tool, c.First, c.Count, c.Net, c.Places))
	}
	want := []string{
		`a.rules:2:1: prove never b before "a" = never {b 0  false} {a 1  false} 0 "" []`,
		`a.rules:3:1: prove at-most 3 b* per session = at-most {b* 2  false} { 0  false} 3 "" []`,
		`a.rules:4:1: prove conserved require-a-before-b = conserved { 0  false} { 0  false} 0 "require-a-before-b" []`,
		`a.rules:5:1: prove exclusive idle, built = exclusive { 0  false} { 0  false} 0 "pipeline" ["idle" "built"]`,
		`a.rules:6:1: prove deadlock-free pipeline = deadlock-free { 0  false} { 0  false} 0 "pipeline" []`,
		`n.yaml:15:9: prove conserved pipeline = conserved { 0  false} { 0  false} 0 "pipeline" []`,
		`n.yaml:15:20: prove deadlock-free pipeline = deadlock-free { 0  false} { 0  false} 0 "pipeline" []`,
		`n.yaml:15:35: prove no-terminal-states pipeline = no-terminal-states { 0  false} { 0  false} 0 "pipeline" []`,
		`n.yaml:15:55: prove exclusive built, idle = exclusive { 0  false} { 0  false} 0 "pipeline" ["built" "idle"]`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestClaimProblems(t *testing.T) {
	r, err := Build(Source{
		Rules: ruleTexts(`map bash.command rm as delete
block delete
block git_*
require a before b
prove deadlock-free pipelin
prove conserved nothing
prove exclusive idle, biult
prove exclusive idle, half
prove exclusive p, q
prove never detele
prove never git_push before aa
prove reachable bash
prove never exec before deploy-it
prove never a.send
prove never x*`),
		Nets: parseNets(t, "["+flow+", {name: other, places: [half, p, q]}, {name: third, places: [p, q]}]"),
	})
	if err == nil {
		t.Fatal("it loads")
	}
	var got []string
	for _, p := range r.Problems {
		got = append(got, fmt.Sprintf("%s %s", p.Code, p))
	}
	want := []string{
		`E106 a.rules:5:21: unknown net "pipelin" in the claim (did you mean "pipeline"?)`,
		`E106 a.rules:6:17: unknown net "nothing" in the claim (nets: block-delete, block-git_*, require-a-before-b, pipeline, other, third)`,
		`E107 a.rules:7:23: no hand-written net has a place "biult" (did you mean "built"?)`,
		`E107 a.rules:8:17: no net has all of these places`,
		`E107 a.rules:9:17: several nets have these places: other, third (write it in one of the nets: prove: ["exclusive p, q"])`,
		`W105 a.rules:10:13: no rule and no net names "detele" (did you mean "delete"?)`,
		`W105 a.rules:11:29: no rule and no net names "aa" (did you mean "a"?)`,
		`W105 a.rules:15:13: no rule and no net names "x*"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	r, _ = Build(Source{Rules: ruleTexts("blok rm\nprove conserved block-rm\nprove conserved pipeline\nprove never rm")})
	if len(r.Problems) != 2 || r.Problems[1].Code != UnknownNet || r.Problems[1].Line != 3 {
		t.Errorf("beside an error: %v", r.Problems)
	}
}

// flow is a net named pipeline, written as an entry of a list.
const flow = `{name: pipeline, scope: session, places: [idle, built], initialMarking: {idle: 1},
  map: [{tool: exec, field: command, word: deploy, as: deploy-it}],
  transitions: [{name: build, inputs: [idle], outputs: [built], tools: [build]}, {name: deploy, inputs: [built], outputs: [idle], tools: [deploy-it]}]}`

// TestClaimsAboutNetsOfEachForm checks that a claim finds the net of a rule of each form by its
// name, and that no problem is reported for a claim about the net of an invalid rule.
func TestClaimsAboutNetsOfEachForm(t *testing.T) {
	for _, rule := range []string{
		"allow x, y", "require a, b before c, d", "require a or b before c", "require a before b since e, f with same path",
		"require 2 human-approvals before x after a until c", "block b after a until c",
		"limit a, b to 3 at once", "limit a to 3 in a row", "limit a to 5 of amount per day for each to", "limit a to 3 per user per day",
	} {
		r, err := Build(Source{Rules: ruleTexts(rule)})
		if err != nil {
			t.Fatal(rule, err)
		}
		text := rule
		for _, n := range r.Nets {
			text += "\nprove conserved " + n.Name
		}
		if again, err := Build(Source{Rules: ruleTexts(text)}); err != nil || len(again.Claims) != len(r.Nets) {
			t.Error(text, err)
		}
		broken := strings.Replace(text, "\n", " and so on\n", 1)
		if r, err = Build(Source{Rules: ruleTexts(broken)}); err == nil || len(r.Problems) != 1 {
			t.Error(broken, r.Problems)
		}
	}
}
