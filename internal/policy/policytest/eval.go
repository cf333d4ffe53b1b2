package policytest

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/sandbox"
)

// Eval reads cases from r, one JSON object per line, and writes their answers to w, one per line
// and in the same order. Only LF ends a line. If a line is not a case, Eval answers it with a list
// of errors and continues.
//
// A line may also have the form {"case": ..., "expect": ...}. If the answer differs from the
// expected one, the returned Evaluation lists the difference. Eval returns an error only if reading
// from r or writing to w fails.
func Eval(r io.Reader, w io.Writer) (Evaluation, error) {
	out := bufio.NewWriter(w)
	var e Evaluation
	err := eachLine(r, func(number int, line []byte) error {
		answer, expect, unreadable := evalLine(line)
		text := marshal(answer)
		if _, err := out.Write(append(text, '\n')); err != nil {
			return fmt.Errorf("writing answers: %w", err)
		}
		if d := compare(text, expect); d != nil {
			d.Line, d.Name = number, answer.Name
			e.Differences = append(e.Differences, *d)
		}
		if unreadable != nil && expect == nil {
			e.Unreadable = append(e.Unreadable, UnreadableCase{number, unreadable.Error()})
		}
		return nil
	})
	if err != nil {
		return e, err
	}
	if err := out.Flush(); err != nil {
		return e, fmt.Errorf("writing answers: %w", err)
	}
	return e, nil
}

// An Evaluation summarizes a call to [Eval]. It does not include the answers.
type Evaluation struct {
	Differences []Difference
	Unreadable  []UnreadableCase // lines with neither a valid case nor an expected answer
}

// An UnreadableCase describes a line that does not contain a valid case.
type UnreadableCase struct {
	Line int
	Why  string
}

// String returns the message shown to the user.
func (u UnreadableCase) String() string { return fmt.Sprintf("line %d: not a case: %s", u.Line, u.Why) }

// An answer is the result of a case. Either Errors is set, or all other fields are set.
type answer struct {
	Name      string      `json:"name"`
	Errors    []caseError `json:"errors,omitempty"`
	Nets      []netStates `json:"nets,omitzero"`
	Decisions []decision  `json:"decisions,omitzero"`
	Final     []netFinal  `json:"final,omitzero"`
}

type caseError struct {
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
	Code    string `json:"code,omitempty"`
	Net     string `json:"net,omitempty"`
}

type netStates struct {
	Name   string `json:"name"`
	States *int   `json:"states"`
}

// A decision is the answer to a single event.
type decision struct {
	I        int      `json:"i"`
	Decision string   `json:"decision"`
	Kind     string   `json:"kind,omitempty"`
	Nets     []string `json:"nets,omitzero"` // sorted names of the nets that block the call or ask for approval
	Cause    string   `json:"cause,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	Times    int      `json:"times,omitempty"` // for a repeated call, how often it was admitted
}

type netFinal struct {
	Name     string         `json:"name"`
	Active   bool           `json:"active"`
	Marking  map[string]int `json:"marking"`
	InFlight int            `json:"inFlight"`
}

func marshal(a *answer) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(a); err != nil {
		panic(err) // cannot happen: JSON can encode every value of an answer
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func evalLine(line []byte) (_ *answer, expect json.RawMessage, unreadable error) {
	c, expect, err := readCase(line)
	if err != nil {
		a := &answer{Errors: []caseError{{Message: "not a case: " + err.Error()}}}
		if c != nil {
			a.Name = c.Name
		}
		return a, expect, err
	}
	return c.eval(), expect, nil
}

// eval builds the case's policy and plays the events under it.
func (c *policyCase) eval() *answer {
	nets, errs := c.nets()
	result, err := policy.Build(policy.Source{Rules: []config.RuleText{{Text: c.Rules}}, Nets: nets, Default: c.Default, Mode: c.Mode})
	if err != nil {
		errs = append(errs, buildErrors(result.Problems.Of(diag.Error))...)
	}
	if len(errs) > 0 {
		return &answer{Name: c.Name, Errors: onePerPlace(errs)}
	}
	a := &answer{Name: c.Name, Nets: []netStates{}, Decisions: []decision{}, Final: []netFinal{}}
	for _, n := range result.Nets {
		a.Nets = append(a.Nets, netStates{n.Name, n.States})
	}
	session := sandbox.New(result.Policy, c.Active).Session("")
	for i, e := range c.events {
		d := play(session, e)
		d.I = i
		a.Decisions = append(a.Decisions, d)
	}
	for _, n := range session.Nets() {
		a.Final = append(a.Final, netFinal{Name: n.Name, Active: n.Active, Marking: marked(n.Marking), InFlight: len(n.InFlight)})
	}
	return a
}

// nets parses the hand-written nets one by one, so that each error can name its net.
func (c *policyCase) nets() (nets []config.Net, errs []caseError) {
	for i, src := range c.Nets {
		ns, err := config.ParseNet("", src)
		if err == nil {
			nets = append(nets, ns...)
			continue
		}
		var named struct{ Name string }
		if json.Unmarshal(src, &named) != nil || named.Name == "" {
			named.Name = fmt.Sprintf("nets[%d]", i)
		}
		problems, _ := diag.Find(err) // the error always contains a list of problems
		for _, e := range problems {
			errs = append(errs, caseError{Message: e.Msg, Code: string(policy.MalformedNet), Net: named.Name})
		}
	}
	return nets, errs
}

// buildErrors converts problems with building the policy to errors for the answer. Errors in nets
// have line 0.
func buildErrors(ps diag.List) []caseError {
	errs := make([]caseError, len(ps))
	for i, p := range ps {
		errs[i] = caseError{Line: p.Line, Column: p.Column, Message: p.Msg, Code: p.Code, Net: p.Net}
		if p.Net != "" {
			errs[i].Line, errs[i].Column = 0, 0
		}
	}
	return errs
}

// onePerPlace sorts errs by line and keeps only the first error for each line and net.
func onePerPlace(errs []caseError) []caseError {
	slices.SortStableFunc(errs, func(a, b caseError) int { return cmp.Compare(a.Line, b.Line) })
	seen := make(map[caseError]bool)
	return slices.DeleteFunc(errs, func(e caseError) bool {
		at := caseError{Line: e.Line, Net: e.Net}
		double := seen[at]
		seen[at] = true
		return double
	})
}

// play plays the event e in the session and returns the decision.
func play(s *sandbox.Session, e *sandbox.Event) decision {
	d, admitted := s.Play(e)
	shown := decision{Decision: "settled"}
	switch d := d.(type) {
	case *gate.Allow:
		if shown = (decision{Nets: []string{}}); d.Would != nil {
			shown = blockedDecision("", d.Would)
		}
		shown.Decision = "allow"
	case *gate.Ask:
		shown = blockedDecision("ask", d.Refusal())
	case *gate.Refusal:
		shown = blockedDecision("refuse", d)
	default:
		if e.Type == "answer" { // approval was not requested
			shown.Decision = "ignored"
		}
	}
	shown.Times = admitted
	return shown
}

// blockedDecision returns the decision for a refusal or an approval request.
func blockedDecision(what string, r *gate.Refusal) decision {
	d := decision{Decision: what, Kind: string(r.Kind), Nets: []string{}, Reason: r.Text}
	d.Nets = append(d.Nets, list.Map(r.Blocks, func(b gate.Block) string { return b.Net })...)
	if len(r.Blocks) > 0 {
		d.Cause = string(r.Blocks[0].Cause)
	}
	slices.Sort(d.Nets)
	d.Nets = slices.Compact(d.Nets)
	return d
}
