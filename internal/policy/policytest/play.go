package policytest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/sandbox"
	"github.com/petrigate/petrigate/internal/text"
)

// Run runs t under the policy.
func (p *Policy) Run(t *Test) TestResult {
	pol := p.Result.Policy
	if p.watch != nil {
		pol = p.watch.policy
	}
	run := &testRun{p, t, sandbox.New(pol, p.Result.Active, t.Sessions...)}
	r := TestResult{Name: t.Name, Line: t.Position.Line, Result: "pass", left: len(t.Steps)}
	for i := range t.Steps {
		step, failure := run.step(i+1, &t.Steps[i])
		r.Steps, r.left = append(r.Steps, step), r.left-1
		if failure != nil {
			r.Result, r.Failure = "fail", failure
			break
		}
	}
	return r
}

// A testRun is a single run of a test.
type testRun struct {
	policy *Policy
	test   *Test
	box    *sandbox.Sandbox
}

func (r *testRun) step(number int, s *Step) (StepResult, *Failure) {
	r.box.Wait(s.After)
	out := StepResult{Step: number, Line: s.Position.Line, Column: s.Position.Column, Text: s.Summary(), Call: s.Tool, Args: s.Args}
	switch {
	case s.Settles > 0:
		return out, r.settle(s)
	case s.Tool == "":
		return out, nil
	}
	for i := 1; i <= s.Times; i++ {
		if failure := r.callOnce(s, &out); failure != nil {
			if s.Times > 1 {
				failure.Got += fmt.Sprintf(", call %d of %d", i, s.Times)
			}
			return out, failure
		}
	}
	return out, nil
}

func (r *testRun) callOnce(s *Step, out *StepResult) *Failure {
	session := r.box.Session(s.Session)
	session.Tick(r.box.Now())
	before := session.Nets()
	call := r.call(out.Step, s)
	d := r.decide(session, call, s)
	d.show(s, out)
	if failure := s.compare(d, r.policy); failure != nil {
		failure.nets, failure.Marking = d.concerned(before), make(map[string]map[string]int)
		for _, n := range failure.nets {
			failure.Marking[n.Name] = marked(n.Marking)
		}
		return failure
	}
	if d.verdict != refuse {
		end(session, call.ID, s)
	}
	return nil
}

// call returns the call made by a step.
func (r *testRun) call(number int, s *Step) gate.Call {
	c := r.policy.call(s.Tool)
	c.ID, c.Args, c.Time = strconv.Itoa(number), s.Args, r.box.Now()
	c.Foreign, c.Also = c.Foreign || s.Foreign, slices.Clone(c.Also)
	for _, name := range s.Also {
		i := slices.IndexFunc(c.Also, func(n gate.Name) bool { return n.Text == name.Text })
		switch {
		case i < 0:
			c.Also = append(c.Also, name)
		case name.Weak:
			c.Also[i] = name // a test can mark a name as weak, so that it only restricts the call; it cannot remove such a mark from a name in the configuration
		}
	}
	if s.Annotations != nil {
		c.Annotations = s.Annotations
	}
	return c
}

// decide makes the call c and answers an approval request as the step specifies.
func (r *testRun) decide(session *sandbox.Session, c gate.Call, s *Step) *callOutcome {
	about := &callOutcome{said: session.Classify(c)}
	about.names = list.Map(r.policy.Result.Policy.Names(c), func(n gate.Name) string { return n.Text })
	d := session.Call(c, sandbox.Later)
	asked, waited := d.(*gate.Ask)
	if waited {
		d = session.Answer(c.ID, s.Approve)
	}
	refused, ok := d.(*gate.Refusal)
	switch {
	case waited && (s.Approve == sandbox.Nobody || s.Expect == ask && (!ok || s.Approve == sandbox.No)):
		about.verdict, about.refusal = ask, asked.Refusal()
	case ok:
		about.verdict, about.refusal = refuse, refused
	default:
		about.verdict, about.would = allow, d.(*gate.Allow).Would
	}
	if watch := r.policy.watch; watch != nil {
		watch.decided(about, d)
		if waited && !ok {
			watch.countBlocks(asked.Refusal())
		}
	}
	return about
}

// show copies the call's outcome to out, the result of the step.
func (d *callOutcome) show(s *Step, out *StepResult) {
	r := cmp.Or(d.refusal, d.would)
	out.Names, out.Verdict, out.Would = d.names, d.verdict, sandbox.VerdictOf(d.would)
	out.Result, out.Reason, out.Nets = "", "", nil
	if d.verdict == allow {
		out.Result = s.Result
	}
	if r == nil {
		return
	}
	out.Reason = r.Text
	out.Nets = list.Map(r.Blocks, func(b gate.Block) reportedRule { return reportedRule{b.Net, policy.Rule(b.Rule)} })
}

// settle ends the earlier call that the step names.
func (r *testRun) settle(s *Step) *Failure {
	of := &r.test.Steps[s.Settles-1]
	if end(r.box.Session(of.Session), strconv.Itoa(s.Settles), s) {
		return nil
	}
	return &Failure{Expected: fmt.Sprintf("step %d settles", s.Settles), Got: "its call is already settled"}
}

// end ends the call with the given ID as the step specifies. It reports whether the call was open.
func end(session *sandbox.Session, id string, s *Step) bool {
	switch s.Result {
	case "pending":
		return true
	case "success":
		return session.Return(id, gate.End{Outcome: gate.Success, Result: s.Returns})
	case "unknown":
		return session.End(id, gate.End{Outcome: gate.Unknown})
	default:
		return session.End(id, gate.End{Outcome: gate.Failure})
	}
}

// compare compares the outcome of a call with the step's expectations, and returns nil if the
// outcome meets them.
func (s *Step) compare(d *callOutcome, p *Policy) *Failure {
	if d.verdict != s.Expect {
		return &Failure{Expected: s.Expect, Got: d.verdict}
	}
	verdict, refusal := d.verdict, d.refusal
	if s.Would != "" {
		verdict, refusal = inShadow+cmp.Or(sandbox.VerdictOf(d.would), allow), d.would
		if verdict != inShadow+s.Would {
			return &Failure{Expected: inShadow + s.Would, Got: verdict}
		}
	}
	if s.Reason != nil && !s.Reason.matches(refusal.Text) {
		return &Failure{Expected: fmt.Sprintf("%s, reason %q", verdict, s.Reason.Source), Got: fmt.Sprintf("%s, for a different reason", verdict)}
	}
	if s.Rule != "" && !slices.ContainsFunc(refusal.Blocks, s.speaksOf) {
		return &Failure{Expected: verdict + " by " + s.Rule + s.unknownRule(p), Got: verdict + " by " + blocksText(refusal.Blocks)}
	}
	for _, name := range s.Names {
		if !slices.Contains(d.names, name) {
			return &Failure{Expected: fmt.Sprintf("the name %q", name), Got: "the names " + strings.Join(d.names, ", ")}
		}
	}
	return nil
}

const inShadow = "in shadow "

// numbered matches an expected rule of the form file:line or file:line:column.
var numbered = regexp.MustCompile(`^(.*?):([0-9]+)(?::([0-9]+))?$`)

// speaksOf reports whether a refusal or approval request comes from the rule or net that the step
// expects.
func (s *Step) speaksOf(b gate.Block) bool {
	m := numbered.FindStringSubmatch(s.Rule)
	if m == nil {
		return b.Net == s.Rule
	}
	line, _ := strconv.Atoi(m[2]) // the only possible error is an overflow; no line has the resulting number
	column, _ := strconv.Atoi(m[3])
	want, got := filepath.ToSlash(m[1]), filepath.ToSlash(b.Rule.File)
	return (want == got || strings.HasSuffix(got, "/"+path.Clean(want))) && line == b.Rule.Line && (column == 0 || column == b.Rule.Column)
}

// unknownRule returns a note for the failure message if the policy has no net with the expected
// name. Otherwise, it returns the empty string.
func (s *Step) unknownRule(p *Policy) string {
	if numbered.MatchString(s.Rule) {
		return ""
	}
	nets := list.Map(p.Result.Policy.Nets(), func(n gate.NetInfo) string { return n.Name })
	near := text.Nearest(s.Rule, nets)
	switch {
	case slices.Contains(nets, s.Rule):
		return ""
	case near != "":
		return fmt.Sprintf(" (unknown net; did you mean %s?)", near)
	default:
		return " (unknown net)"
	}
}

func blocksText(blocks []gate.Block) string {
	all := list.Map(blocks, func(b gate.Block) string { return fmt.Sprintf("%s (%s)", b.Rule, b.Net) })
	return cmp.Or(strings.Join(all, ", "), "no net")
}

// concerned returns the given nets that do not abstain from the call, or that refuse it. It
// modifies the slice.
func (d *callOutcome) concerned(all []gate.NetState) []gate.NetState {
	said := make(map[string]bool)
	for _, v := range d.said {
		said[v.Net] = v.Kind != gate.Abstain
	}
	if d.refusal != nil {
		for _, b := range d.refusal.Blocks {
			said[b.Net] = true
		}
	}
	return slices.DeleteFunc(all, func(n gate.NetState) bool { return !said[n.Name] })
}

// Summary returns a one-line description of the step.
func (s *Step) Summary() string {
	switch {
	case s.Settles > 0:
		return fmt.Sprintf("settle step %d as %s", s.Settles, s.Result)
	case s.Tool == "":
		return fmt.Sprintf("after %s", text.Exact(s.After))
	}
	text := s.Tool
	if s.Args != nil {
		text += " " + compact(s.Args)
	}
	if s.Times > 1 {
		text += fmt.Sprintf(", %d times", s.Times)
	}
	return text
}

// compact truncates a JSON value to fit on a line.
func compact(text json.RawMessage) string {
	const most = 120
	shown := []rune(string(text))
	if len(shown) > most {
		return string(shown[:most]) + "..."
	}
	return string(shown)
}
