// Package examples contains configurations to start from, and tests that keep these and the README
// correct.
package examples

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/policytest"
)

var update = flag.Bool("update", false, "write the policies of the examples into their cases")

// TestExamples loads each example and runs its cases under its own policy.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("*/petrigate.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Dir(file), func(t *testing.T) {
			c, err := config.Load(config.Options{Path: file, Env: environment})
			if err != nil {
				t.Fatal(config.Text(err))
			}
			build(t, c)
			checkCases(t, filepath.Join(filepath.Dir(file), "cases.jsonl"), c)
		})
	}
}

// environment looks up the variables that the configurations require.
func environment(name string) (string, bool) {
	value, ok := map[string]string{"WORKSPACE": "/srv/project", "DEPLOY_TOKEN": "x", "CLIENT_SECRET": "x", "DISCORD_TOKEN": "x", "GITHUB_TOKEN": "x", "PETRIGATE_HOOK_SECRET": "0123456789abcdef"}[name]
	return value, ok
}

// build builds the policy of a configuration, which must not cause warnings.
func build(t *testing.T, c *config.Config) {
	t.Helper()
	for _, w := range c.Warnings {
		t.Errorf("warning: %s", w.Text())
	}
	result, err := policy.Build(policy.FromConfig(c))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range result.Problems {
		t.Error(p)
	}
}

// checkCases compares the cases with the policy. Each case contains a copy of the policy, so that
// petrigate eval can run it, and the copy must be correct.
func checkCases(t *testing.T, path string, c *config.Config) {
	t.Helper()
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var fresh bytes.Buffer
	for line := range bytes.Lines(old) {
		fresh.Write(withPolicy(t, line, c))
	}
	switch {
	case *update:
		if err := os.WriteFile(path, fresh.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	case !bytes.Equal(old, fresh.Bytes()):
		t.Errorf("%s has another policy than the example, run go test ./examples -update (-cases +example):\n%s",
			path, cmp.Diff(strings.Split(string(old), "\n"), strings.Split(fresh.String(), "\n")))
	}
	var answers bytes.Buffer
	evaluation, err := policytest.Eval(&fresh, &answers)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range evaluation.Differences {
		t.Error(d)
	}
}

// A testCase is a line of cases: a policy, events, and the expected results.
type testCase struct {
	Case struct {
		Name    string          `json:"name"`
		Rules   string          `json:"rules"`
		Nets    []net           `json:"nets,omitempty"`
		Default string          `json:"default,omitempty"`
		Events  json.RawMessage `json:"events"`
	} `json:"case"`
	Expect json.RawMessage `json:"expect"`
}

// A net is a net in the format of a case.
type net struct {
	Name           string         `json:"name"`
	Scope          string         `json:"scope,omitempty"`
	Places         []string       `json:"places,omitempty"`
	InitialMarking map[string]int `json:"initialMarking,omitempty"`
	FreeTools      []string       `json:"freeTools,omitempty"`
	Transitions    []transition   `json:"transitions,omitempty"`
	Reason         string         `json:"reason,omitempty"`
	Validate       []validator    `json:"validate,omitempty"`
	Remember       []memory       `json:"remember,omitempty"`
}

type validator struct {
	Tools   []string `json:"tools"`
	Require string   `json:"require"`
	Reason  string   `json:"reason"`
}

type memory struct {
	Transition string `json:"transition"`
	Set        string `json:"set"`
	To         string `json:"to"`
}

type transition struct {
	Name     string   `json:"name"`
	Type     string   `json:"type,omitempty"`
	Inputs   []string `json:"inputs"`
	Outputs  []string `json:"outputs"`
	Tools    []string `json:"tools"`
	Deferred bool     `json:"deferred,omitempty"`
}

// withPolicy returns a line of cases with the policy of c inserted.
func withPolicy(t *testing.T, line []byte, c *config.Config) []byte {
	t.Helper()
	var tc testCase
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&tc); err != nil {
		t.Fatalf("reading a case: %v", err)
	}
	if len(tc.Case.Events) == 0 || len(tc.Expect) == 0 {
		t.Errorf("%s: nothing happens, or nothing is expected", tc.Case.Name)
	}
	tc.Case.Rules, tc.Case.Nets, tc.Case.Default = "", nil, ""
	for _, r := range c.Rules {
		tc.Case.Rules += r.Text
	}
	for _, n := range c.Nets {
		tc.Case.Nets = append(tc.Case.Nets, netOf(t, n))
	}
	if c.Default != "allow" {
		tc.Case.Default = c.Default
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(tc); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// netOf converts a net of a configuration, as far as the examples use nets.
func netOf(t *testing.T, n config.Net) net {
	t.Helper()
	if n.TerminalPlaces != nil || n.Map != nil || n.Match != "" || n.AllowUnbounded {
		t.Fatalf("the net %s uses what cases are not given here: add it", n.Name)
	}
	out := net{Name: n.Name, Scope: n.Scope, Places: n.Places, InitialMarking: n.InitialMarking, FreeTools: n.FreeTools, Reason: n.Reason}
	for _, tr := range n.Transitions {
		if tr.Observe || tr.Unknown != "" {
			t.Fatalf("the transition %s uses what cases are not given here: add it", tr.Name)
		}
		out.Transitions = append(out.Transitions, transition{tr.Name, tr.Type, tr.Inputs, tr.Outputs, tr.Tools, tr.Deferred})
	}
	for _, v := range n.Validate {
		out.Validate = append(out.Validate, validator{v.Tools, v.Require.Text, v.Reason.Text})
	}
	for _, m := range n.Remember {
		out.Remember = append(out.Remember, memory{m.Transition, m.Set, m.To.Text})
	}
	return out
}
