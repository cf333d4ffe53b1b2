package policytest

import (
	"encoding/json"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy"
)

// Report is the answer of test, in the form that tools rely on.
type Report struct {
	Version  int          `json:"version"`
	OK       bool         `json:"ok"`
	Passed   int          `json:"passed"`
	Failed   int          `json:"failed"`
	Problems diag.List    `json:"problems"` // what did not load; then nothing was run
	Files    []FileResult `json:"files"`
	Coverage *Coverage    `json:"coverage,omitempty"`

	Nothing int `json:"-"` // cases that expect nothing
}

// A FileResult has the results of the tests of one file.
type FileResult struct {
	File  string       `json:"file"`
	Tests []TestResult `json:"tests"`
}

// A TestResult is the result of a test or of a case.
type TestResult struct {
	Name    string       `json:"name"`
	Line    int          `json:"line"`
	Result  string       `json:"result"`          // "pass"; "fail"; "unchecked": it is a case that expects nothing
	Steps   []StepResult `json:"steps,omitempty"` // that were played, in order; the last one is not as expected where Failure is set
	Failure *Failure     `json:"failure,omitempty"`

	left int // steps that were not played
}

// A StepResult is a step that was played.
type StepResult struct {
	Step    int             `json:"step"` // from 1
	Line    int             `json:"line"`
	Column  int             `json:"column"`
	Text    string          `json:"text"`
	Call    string          `json:"call,omitempty"`
	Args    json.RawMessage `json:"args,omitempty"`
	Names   []string        `json:"names,omitempty"`   // that the call carries
	Verdict string          `json:"verdict,omitempty"` // "allow", "refuse", "ask"; empty: the step makes no call
	Result  string          `json:"result,omitempty"`
	Would   string          `json:"would,omitempty"`  // what nets in shadow would have said
	Reason  string          `json:"reason,omitempty"` // of the refusal, of the question to a person, or of nets in shadow
	Nets    []reportedRule  `json:"nets,omitempty"`   // that refuse or ask, or would have
}

type reportedRule struct {
	Name string      `json:"name"`
	Rule policy.Rule `json:"rule"`
}

// A Failure says what is not as expected, of the last step or of a case.
type Failure struct {
	Expected string                    `json:"expected"`
	Got      string                    `json:"got"`
	Marking  map[string]map[string]int `json:"marking,omitempty"` // before the step

	nets []gate.NetState // that are concerned, as they were before
}

// NewReport returns a report without files.
func NewReport(problems diag.List) *Report {
	r := &Report{Version: 1, OK: len(problems) == 0, Problems: problems, Files: []FileResult{}}
	if r.Problems == nil {
		r.Problems = diag.List{}
	}
	return r
}

// Add counts the results of a file.
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
