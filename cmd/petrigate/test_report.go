package main

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/policytest"
	"github.com/petrigate/petrigate/internal/policy/sandbox"
)

// testReport is the answer of test, in the form that tools rely on.
type testReport struct {
	Version  int             `json:"version"`
	OK       bool            `json:"ok"`
	Passed   int             `json:"passed"`
	Failed   int             `json:"failed"`
	Problems policy.Problems `json:"problems"` // what did not load; then nothing was run
	Files    []testedFile    `json:"files"`
	Coverage *testCoverage   `json:"coverage,omitempty"`

	nothing int // cases that expect nothing
}

type testedFile struct {
	File  string       `json:"file"`
	Tests []testedTest `json:"tests"`
}

// A testedTest is what came of a test. The result of a case that expects
// nothing is "unchecked".
type testedTest struct {
	Name    string       `json:"name"`
	Line    int          `json:"line"`
	Result  string       `json:"result"` // "pass", "fail", "unchecked"
	Steps   []testedStep `json:"steps,omitempty"`
	Failure *testFailure `json:"failure,omitempty"`

	left int // steps that were not played
}

// A testedStep is a step that was played.
type testedStep struct {
	Step    int             `json:"step"`
	Line    int             `json:"line"`
	Column  int             `json:"column"`
	Text    string          `json:"text"`
	Call    string          `json:"call,omitempty"`
	Args    json.RawMessage `json:"args,omitempty"`
	Names   []string        `json:"names,omitempty"` // that the call carries
	Verdict string          `json:"verdict,omitempty"`
	Result  string          `json:"result,omitempty"`
	Would   string          `json:"would,omitempty"` // what nets in shadow would have said
	Reason  string          `json:"reason,omitempty"`
	Nets    []testedRule    `json:"nets,omitempty"` // that refuse or ask, or would have
}

type testedRule struct {
	Name string      `json:"name"`
	Rule policy.Rule `json:"rule"`
}

// A testFailure says what is not as expected, of the last step or of a case.
type testFailure struct {
	Expected string                    `json:"expected"`
	Got      string                    `json:"got"`
	Marking  map[string]map[string]int `json:"marking,omitempty"` // before the step

	nets []gate.NetState
}

type testCoverage struct {
	Percent int           `json:"percent"`
	Done    int           `json:"done"`
	Total   int           `json:"total"`
	Missing []testMissing `json:"missing"`
}

type testMissing struct {
	Kind policytest.Kind `json:"kind"`
	Net  string          `json:"net,omitempty"`
	Name string          `json:"name,omitempty"`
	Rule policy.Rule     `json:"rule"`
}

func newTestReport(problems policy.Problems) *testReport {
	r := &testReport{Version: 1, OK: len(problems) == 0, Problems: problems, Files: []testedFile{}}
	if r.Problems == nil {
		r.Problems = policy.Problems{}
	}
	return r
}

func (r *testReport) add(f testedFile) {
	for _, t := range f.Tests {
		switch t.Result {
		case "pass":
			r.Passed++
		case "fail":
			r.Failed++
			r.OK = false
		default:
			r.nothing++
		}
	}
	r.Files = append(r.Files, f)
}

func tested(result policytest.Result) testedTest {
	t := testedTest{Name: result.Test.Name, Line: result.Test.Position.Line, Result: "pass", left: len(result.Test.Steps) - len(result.Steps)}
	for _, p := range result.Steps {
		t.Steps = append(t.Steps, testedStepOf(p))
	}
	if f := result.Failure; f != nil {
		t.Result = "fail"
		t.Failure = &testFailure{Expected: f.Expected, Got: f.Got, nets: f.Nets, Marking: make(map[string]map[string]int)}
		for _, n := range f.Nets {
			t.Failure.Marking[n.Name] = marked(n.Marking)
		}
	}
	return t
}

// marked are the places that have tokens.
func marked(m gate.Marking) map[string]int {
	places := make(map[string]int)
	for _, tokens := range m {
		if tokens.Count > 0 {
			places[tokens.Place] = tokens.Count
		}
	}
	return places
}

func testedStepOf(p policytest.Played) testedStep {
	s := testedStep{
		Step: p.Number, Line: p.Step.Position.Line, Column: p.Step.Position.Column, Text: p.Step.What(),
		Call: p.Step.Tool, Args: p.Step.Args, Names: p.Names, Verdict: p.Verdict,
	}
	if p.Verdict == "allow" {
		s.Result = p.Step.Result
	}
	r := p.Refusal
	if r == nil {
		r = p.Would
		s.Would = sandbox.VerdictOf(r)
	}
	if r == nil {
		return s
	}
	s.Reason = r.Text
	for _, b := range r.Blocks {
		s.Nets = append(s.Nets, testedRule{b.Net, policy.Rule(b.Rule)})
	}
	return s
}

func testedCase(c policytest.Case) testedTest {
	t := testedTest{Name: c.Name, Line: c.Line, Result: "pass"}
	switch {
	case c.Failure != "":
		t.Result, t.Failure = "fail", &testFailure{Got: c.Failure}
	case c.Nothing:
		t.Result = "unchecked"
	}
	return t
}

func covered(c policytest.Coverage) *testCoverage {
	out := &testCoverage{Percent: c.Percent(), Done: c.Done(), Total: len(c.Items), Missing: []testMissing{}}
	for _, i := range c.Items {
		if i.Hits == 0 {
			out.Missing = append(out.Missing, testMissing{i.Kind, i.Net, i.Name, policy.Rule(i.Rule)})
		}
	}
	slices.SortStableFunc(out.Missing, func(a, b testMissing) int {
		return cmp.Or(cmp.Compare(a.Rule.File, b.Rule.File), cmp.Compare(a.Rule.Line, b.Rule.Line))
	})
	return out
}
