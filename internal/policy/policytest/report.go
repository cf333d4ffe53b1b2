package policytest

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/sandbox"
)

// Report is the answer of test, in the form that tools rely on.
type Report struct {
	Version  int               `json:"version"`
	OK       bool              `json:"ok"`
	Passed   int               `json:"passed"`
	Failed   int               `json:"failed"`
	Problems diag.List         `json:"problems"` // what did not load; then nothing was run
	Files    []ReportedFile    `json:"files"`
	Coverage *reportedCoverage `json:"coverage,omitempty"`

	Nothing int `json:"-"` // cases that expect nothing
}

// A ReportedFile has the results of the tests of one file.
type ReportedFile struct {
	File  string         `json:"file"`
	Tests []ReportedTest `json:"tests"`
}

// A ReportedTest is what came of a test. The result of a case that expects
// nothing is "unchecked".
type ReportedTest struct {
	Name    string           `json:"name"`
	Line    int              `json:"line"`
	Result  string           `json:"result"` // "pass", "fail", "unchecked"
	Steps   []reportedStep   `json:"steps,omitempty"`
	Failure *reportedFailure `json:"failure,omitempty"`

	left int // steps that were not played
}

// A reportedStep is a step that was played.
type reportedStep struct {
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
	Nets    []reportedRule  `json:"nets,omitempty"` // that refuse or ask, or would have
}

type reportedRule struct {
	Name string      `json:"name"`
	Rule policy.Rule `json:"rule"`
}

// A reportedFailure says what is not as expected, of the last step or of a case.
type reportedFailure struct {
	Expected string                    `json:"expected"`
	Got      string                    `json:"got"`
	Marking  map[string]map[string]int `json:"marking,omitempty"` // before the step

	nets []gate.NetState
}

type reportedCoverage struct {
	Percent int          `json:"percent"`
	Done    int          `json:"done"`
	Total   int          `json:"total"`
	Missing []missedItem `json:"missing"`
}

type missedItem struct {
	Kind Kind        `json:"kind"`
	Net  string      `json:"net,omitempty"`
	Name string      `json:"name,omitempty"`
	Rule policy.Rule `json:"rule"`
}

// NewReport returns a report without files.
func NewReport(problems diag.List) *Report {
	r := &Report{Version: 1, OK: len(problems) == 0, Problems: problems, Files: []ReportedFile{}}
	if r.Problems == nil {
		r.Problems = diag.List{}
	}
	return r
}

// Add counts the results of a file.
func (r *Report) Add(f ReportedFile) {
	for _, t := range f.Tests {
		switch t.Result {
		case "pass":
			r.Passed++
		case "fail":
			r.Failed++
			r.OK = false
		default:
			r.Nothing++
		}
	}
	r.Files = append(r.Files, f)
}

// ReportOf returns the result of a test as a report shows it.
func ReportOf(result Result) ReportedTest {
	t := ReportedTest{Name: result.Test.Name, Line: result.Test.Position.Line, Result: "pass", left: len(result.Test.Steps) - len(result.Steps)}
	for _, p := range result.Steps {
		t.Steps = append(t.Steps, reportStep(p))
	}
	if f := result.Failure; f != nil {
		t.Result = "fail"
		t.Failure = &reportedFailure{Expected: f.Expected, Got: f.Got, nets: f.Nets, Marking: make(map[string]map[string]int)}
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

func reportStep(p Played) reportedStep {
	s := reportedStep{
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
		s.Nets = append(s.Nets, reportedRule{b.Net, policy.Rule(b.Rule)})
	}
	return s
}

// ReportOfCase returns a case that passed as a report shows it.
func ReportOfCase(c Case) ReportedTest {
	t := ReportedTest{Name: c.Name, Line: c.Line, Result: "pass"}
	switch {
	case c.Failure != "":
		t.Result, t.Failure = "fail", &reportedFailure{Got: c.Failure}
	case c.Nothing:
		t.Result = "unchecked"
	}
	return t
}

// ReportCoverage returns what the tests have covered as a report shows it.
func ReportCoverage(c Coverage) *reportedCoverage {
	out := &reportedCoverage{Percent: c.Percent(), Done: c.Done(), Total: len(c.Items), Missing: []missedItem{}}
	for _, i := range c.Items {
		if i.Hits == 0 {
			out.Missing = append(out.Missing, missedItem{i.Kind, i.Net, i.Name, policy.Rule(i.Rule)})
		}
	}
	slices.SortStableFunc(out.Missing, func(a, b missedItem) int {
		return cmp.Or(cmp.Compare(a.Rule.File, b.Rule.File), cmp.Compare(a.Rule.Line, b.Rule.Line))
	})
	return out
}
