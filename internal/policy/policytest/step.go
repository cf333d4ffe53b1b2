package policytest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy/sandbox"
)

// step parses a step of the test t, which already contains all earlier steps.
func (p *parser) step(t *Test, v config.Value) Step {
	s := Step{Position: v.Position()}
	settles, called := false, false // whether the step ends an earlier call, and whether it makes a call
	call := func(read func(config.Value)) func(config.Value) {
		return func(v config.Value) {
			called = true
			read(v)
		}
	}
	before := p.root.Faults()
	v.Fields(config.Keys{
		"after":       func(v config.Value) { s.After, _ = v.Duration() },
		"call":        call(func(v config.Value) { s.Tool, _ = v.Text() }),
		"times":       call(func(v config.Value) { s.Times = times(v) }),
		"as":          call(func(v config.Value) { s.As, _ = v.Text() }),
		"args":        call(func(v config.Value) { s.Args, _ = v.Object() }),
		"annotations": call(func(v config.Value) { s.Annotations, _ = v.Object() }),
		"session":     call(func(v config.Value) { s.Session = t.session(v) }),
		"approve":     call(func(v config.Value) { s.Approve = approve(v) }),
		"result":      call(func(v config.Value) { s.Result = result(v, results...) }),
		"returns":     call(func(v config.Value) { s.Returns, _ = v.JSON() }),
		"expect":      call(func(v config.Value) { s.Expect, _ = v.Word(verdicts...) }),
		"reason":      call(func(v config.Value) { s.Reason = reason(v) }),
		"would":       call(func(v config.Value) { s.Would, _ = v.Word(refuse, ask) }),
		"names":       call(func(v config.Value) { s.Names = v.Texts() }),
		"rule":        call(func(v config.Value) { s.Rule, _ = v.Text() }),
		"settle": func(v config.Value) {
			settles = true
			t.settle(&s, v)
		},
	})
	switch {
	case p.root.Faults() > before: // skip the other checks: a missing key may just be misspelt
	case settles && called:
		v.Fault("a step makes a call or settles one, not both", "write two steps")
	case settles:
	case called && s.Tool == "":
		v.Fault("the step makes no call", `write "call: TOOL"`)
	case called:
		t.check(&s, v)
	case s.After == 0:
		v.Fault("nothing happens in this step", `write "call: TOOL"`)
	}
	return s
}

func times(v config.Value) int {
	const most = 10_000
	n, ok := v.Count()
	if ok && (n < 1 || n > most) {
		v.Fault(fmt.Sprintf("times must be from 1 to %d", most), "")
	}
	return n
}

func (t *Test) session(v config.Value) string {
	name, ok := v.Text()
	known := func(s sandbox.Participant) bool { return s.Name == name }
	if ok && !slices.ContainsFunc(t.Sessions, known) {
		v.Fault(fmt.Sprintf("the test has no session %q", name), `list them before the steps: "sessions: { a: ann, b: bob }", each with its principal`)
	}
	return name
}

func approve(v config.Value) sandbox.Consent {
	switch yes, ok := v.Flag(); {
	case !ok:
		return sandbox.Nobody
	case yes:
		return sandbox.Yes
	default:
		return sandbox.No
	}
}

// result parses the word that specifies how a call ends.
func result(v config.Value, words ...string) string {
	if !v.IsText() {
		v.Fault("result must be an outcome, such as success", `write the returned result under "returns"`)
		return ""
	}
	word, _ := v.Word(words...)
	return word
}

func reason(v config.Value) *Pattern {
	text, ok := v.Text()
	if !ok {
		return nil
	}
	p, err := newPattern(text)
	if err != nil {
		v.Fault(strings.TrimPrefix(err.Error(), "error parsing regexp: "), "patterns are RE2")
	}
	return p
}

func (t *Test) settle(s *Step, v config.Value) {
	s.Result = "success"
	v.Fields(config.Keys{
		"call":    func(v config.Value) { s.Settles = t.settles(v) },
		"result":  func(v config.Value) { s.Result = result(v, "success", "failure", "error", "unknown") },
		"returns": func(v config.Value) { s.Returns, _ = v.JSON() },
	})
	if s.Returns != nil && s.Result != "success" {
		v.Fault("only a success returns something", "omit returns")
	}
}

// check sets the defaults of a step that makes a call, and reports contradictions.
func (t *Test) check(s *Step, v config.Value) {
	held := s.Reason != nil || s.Rule != ""
	if s.Expect == "" {
		s.Expect = allow
		if held && s.Would == "" || s.Approve == sandbox.No {
			s.Expect = refuse
		}
	}
	as := func(before Step) bool { return s.As != "" && before.As == s.As }
	switch {
	case s.Expect != allow && s.Would != "":
		v.Fault("would applies only to a call that passes", `write "expect: allow", or omit would`)
	case s.Expect == allow && held && s.Would == "":
		v.Fault("a call that passes has neither a reason nor a rule", `omit them, or write "expect: refuse"`)
	case s.Expect == allow && s.Approve == sandbox.No:
		v.Fault("a call that is not approved does not pass", `write "approve: true", or omit approve if no approval is required`)
	case !s.admits() && s.Result != "":
		v.Fault("a call that is not admitted has no result", "omit result")
	case s.Returns != nil && s.Result != "" && s.Result != "success":
		v.Fault("only a success returns something", "omit returns")
	case slices.ContainsFunc(t.Steps, as):
		v.Fault(fmt.Sprintf("an earlier call is named %q", s.As), "")
	}
	if s.Times > 1 && (s.canSettleLater() || s.As != "") {
		v.Fault("a repeated call cannot stay open or have a name", "omit times, or the result and the name")
	}
	s.Result, s.Times = cmp.Or(s.Result, "success"), max(s.Times, 1)
}

// settles parses v, which is the name of an earlier call or the number of its step. It returns the
// number of the step. If no such call can be ended, settles reports an error and returns 0.
func (t *Test) settles(v config.Value) int {
	number := 0
	if v.IsNumber() {
		number, _ = v.Count()
	} else if name, ok := v.Text(); ok {
		number = slices.IndexFunc(t.Steps, func(s Step) bool { return s.As == name }) + 1
		if n, err := strconv.Atoi(name); number == 0 && err == nil {
			number = n
		}
	} else {
		return 0
	}
	if number < 1 || number > len(t.Steps) || !t.Steps[number-1].canSettleLater() {
		v.Fault("no open call has this number or name", `give the call "result: pending", and "as: ..." for a name`)
		return 0
	}
	return number
}
