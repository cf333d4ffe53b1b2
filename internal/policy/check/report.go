package check

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/sandbox"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// Report is what "petrigate check" prints as JSON.
type Report struct {
	Version   int             `json:"version"`
	OK        bool            `json:"ok"`
	Problems  diag.List       `json:"problems"`
	Nets      []policy.Net    `json:"nets"`
	Tools     []reportedTool  `json:"tools"`
	Proofs    []reportedProof `json:"proofs"`
	Redundant []string        `json:"redundant"`
	Open      []openQuestion  `json:"open"`     // questions left unanswered or answered only in part
	Complete  bool            `json:"complete"` // whether all questions about the policy were answered

	verified *Analysis // findings of the verification; nil if the policy was not verified
	open     int       // number of unknown claims that count as failures
}

// A reportedTool is the result for a single name. Its events lead to a call with the name; they are
// in the input format of "petrigate eval".
type reportedTool struct {
	Name     string          `json:"name"`
	Callable any             `json:"callable"` // true, false or "after-failure"; nil if unknown
	Shortest []string        `json:"shortest"` // names of the calls in a shortest sequence that ends with a call to the tool; nil unless Callable is true
	Because  []string        `json:"because,omitzero"`
	Why      string          `json:"why,omitempty"`  // if Callable is nil, why it is unknown whether the tool can be called
	Hint     string          `json:"hint,omitempty"` // how to find out whether the tool can be called
	Events   []sandbox.Event `json:"events,omitempty"`

	known verify.Name
}

// A reportedProof is the result for a claim. The events of its counterexample are in the input
// format of "petrigate eval".
type reportedProof struct {
	Text           string          `json:"text"`
	Part           string          `json:"part,omitempty"` // if the claim is about several names, the part that was not proved
	File           string          `json:"file"`
	Line           int             `json:"line"`
	Result         string          `json:"result"`
	Counterexample []sandbox.Event `json:"counterexample"`
	Because        []string        `json:"because,omitempty"`
	Marking        map[string]int  `json:"marking,omitempty"` // tokens in each place when the claim is violated; only for "conserved" and "exclusive"
	Why            string          `json:"why,omitempty"`     // why the result is unknown or a counterexample is missing
	Hint           string          `json:"hint,omitempty"`    // how to find out whether the claim holds

	// ForEach is a phrase, such as "for each path", that makes the claim provable when appended to
	// it.
	ForEach string `json:"forEach,omitempty"`
}

// NewReport creates a report. v is nil if nothing could be verified.
func NewReport(problems diag.List, result *policy.Result, known ToolSet, v *Analysis) Report {
	r := Report{
		Version: 1, Problems: problems, Nets: result.Nets,
		Tools: []reportedTool{}, Proofs: []reportedProof{}, Redundant: []string{}, Open: []openQuestion{}, verified: v,
	}
	if r.Problems == nil {
		r.Problems = diag.List{}
	}
	if r.Nets == nil {
		r.Nets = []policy.Net{}
	}
	r.listTools(result, known)
	if v == nil {
		return r
	}
	for i := range r.Nets {
		r.Nets[i].Invariants = invariants(v.nets[r.Nets[i].Name])
	}
	for _, p := range v.proofs {
		if p.Default {
			p.Why = whyDefault
		}
		part := ""
		if len(p.Parts) > 0 && p.Result != verify.Proved {
			part = p.Parts[p.Part].Text
		}
		r.Proofs = append(r.Proofs, reportedProof{
			Text: p.Text, Part: part, File: p.Rule.File, Line: p.Rule.Line, Result: p.Result.String(),
			Counterexample: p.events(v.tools), Because: netNames(p.Because), Marking: v.marking(p), Why: p.Why, Hint: v.effort.raiseHint(p.Why), ForEach: p.ForEach,
		})
	}
	r.Redundant = append(r.Redundant, list.Map(v.report.Redundant, func(n verify.Redundant) string { return n.Net.Name })...)
	r.Open = append(r.Open, v.open()...)
	r.Complete = v.complete(r.Open)
	return r
}

// Judge determines whether the report is ok. A report with errors is never ok. Unknown claims are
// accepted if allowUnknown is true, and warnings are accepted unless strict is true.
func (r *Report) Judge(strict, allowUnknown bool) {
	r.open = len(list.Filter(r.Proofs, func(p reportedProof) bool { return p.Result == verify.Unknown.String() && !allowUnknown }))
	r.OK = len(r.Problems.Of(diag.Error)) == 0 && r.open == 0 && (!strict || len(r.Problems.Of(diag.Warning)) == 0)
}

// events returns the events of the counterexample.
func (p claimProof) events(tools ToolSet) []sandbox.Event {
	events := tools.Events(p.Counterexample)
	var lacks *verify.Approval
	switch a := p.Assertion.(type) {
	case verify.NeverWithoutApproval:
		lacks = &a.Approval
	case verify.NeverAfter:
		lacks = a.Unapproved
	case verify.Only:
		lacks = a.Unapproved
	}
	if lacks != nil && lacks.Count < 2 && lacks.Via == "" {
		return unasked(events)
	}
	return events
}

// listTools adds to the report every name that a net lists, in order, followed by the other known
// tools.
func (r *Report) listTools(result *policy.Result, known ToolSet) {
	found := make(map[string]verify.Name)
	tools := known
	if r.verified != nil {
		tools = r.verified.tools
		for _, n := range slices.Backward(r.verified.names) { // if several entries have the same name, the first is used
			found[ruleName(n.Tool)] = n
		}
	}
	seen := make(map[string]bool)
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			t := newTool(name, found[name], tools)
			if r.verified != nil {
				t.Hint = r.verified.effort.raiseHint(t.Why)
			}
			r.Tools = append(r.Tools, t)
		}
	}
	there := make(map[string]bool)
	if result.Policy != nil {
		for _, net := range result.Policy.Nets() {
			for _, name := range listed(net) {
				add(name)
				there[strings.Trim(name, `"`)] = true
			}
		}
	}
	for _, name := range known.namesExcept(there) {
		add(name)
	}
}

func newTool(name string, n verify.Name, tools ToolSet) reportedTool {
	t := reportedTool{Name: name, known: n}
	switch n.Callable {
	case verify.Possible:
		t.Callable, t.Shortest, t.Events = true, n.Shortest.Calls(), tools.Events(n.Shortest)
	case verify.AfterFailure:
		t.Callable, t.Events = "after-failure", tools.Events(n.Failing)
	case verify.Impossible:
		t.Callable, t.Because = false, append([]string{}, netNames(n.Because)...)
	default:
		t.Why = n.Why
	}
	return t
}
