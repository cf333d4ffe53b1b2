package policytest

import (
	"encoding/json"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy"
)

// A Report is the result of a test run, which can be printed or encoded as JSON.
type Report struct {
	Version  int          `json:"version"`
	OK       bool         `json:"ok"`
	Passed   int          `json:"passed"`
	Failed   int          `json:"failed"`
	Problems diag.List    `json:"problems"` // problems found while loading the files; if there are any, no test was run
	Files    []FileResult `json:"files"`
	Coverage *Coverage    `json:"coverage,omitempty"`

	Nothing int `json:"-"` // number of cases without an expected answer
}

// A FileResult holds the results of the tests in a file.
type FileResult struct {
	File  string       `json:"file"`
	Tests []TestResult `json:"tests"`
}

// A TestResult is the result of a test or a case.
type TestResult struct {
	Name    string       `json:"name"`
	Line    int          `json:"line"`
	Result  string       `json:"result"`          // "pass" or "fail"; "unchecked" for a case without an expected answer
	Steps   []StepResult `json:"steps,omitempty"` // completed steps, in order; if Failure is set, the last one failed
	Failure *Failure     `json:"failure,omitempty"`

	left int // number of steps not run
}

// A StepResult is the result of a step.
type StepResult struct {
	Step    int             `json:"step"` // step number, starting at 1
	Line    int             `json:"line"`
	Column  int             `json:"column"`
	Text    string          `json:"text"`
	Call    string          `json:"call,omitempty"`
	Args    json.RawMessage `json:"args,omitempty"`
	Names   []string        `json:"names,omitempty"`   // names of the call
	Verdict string          `json:"verdict,omitempty"` // "allow", "refuse" or "ask"; empty if the step makes no call
	Result  string          `json:"result,omitempty"`
	Would   string          `json:"would,omitempty"`  // verdict of shadow nets
	Reason  string          `json:"reason,omitempty"` // reason for the refusal, the approval request or the verdict of shadow nets
	Nets    []reportedRule  `json:"nets,omitempty"`   // rules that led to the verdict or, if the call is allowed, to the verdict of shadow nets
}

type reportedRule struct {
	Name string      `json:"name"`
	Rule policy.Rule `json:"rule"`
}

// A Failure describes how the result of a step or a case differs from the expected one.
type Failure struct {
	Expected string                    `json:"expected"`
	Got      string                    `json:"got"`
	Marking  map[string]map[string]int `json:"marking,omitempty"` // marking of each affected net just before the failed call, keyed by net name

	nets []gate.NetState // complete states of the nets in Marking
}

// newReport returns a report with the given problems and no files.
func newReport(problems diag.List) *Report {
	return &Report{Version: 1, OK: len(problems) == 0, Problems: append(diag.List{}, problems...), Files: []FileResult{}}
}

// Add adds the results for a file.
func (r *Report) Add(f FileResult) {
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

// marked returns the token counts in m, without empty places.
func marked(m gate.Marking) map[string]int {
	places := make(map[string]int)
	for _, tokens := range m {
		if tokens.Count > 0 {
			places[tokens.Place] = tokens.Count
		}
	}
	return places
}
