package policytest

import (
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy/sandbox"
)

// event parses an event of a counterexample and adds it to t as a step. A single call stays open
// until another event ends it. If the event repeats a call, each of the calls succeeds immediately.
func (p *parser) event(t *Test, v config.Value) {
	raw, ok := v.Object()
	if !ok {
		return
	}
	e, err := readEvent(raw)
	if err != nil {
		v.Fault(err.Error(), "")
		return
	}
	s := Step{Position: v.Position()}
	switch e.Type {
	case "wait":
		s.After = e.Duration()
	case "call":
		call := e.Call()
		s.Tool, s.Foreign, s.Also, s.Args, s.As = call.Tool, call.Foreign, call.Also, call.Args, call.ID
		s.Approve, s.Expect, s.Result, s.Times = e.Approve, allow, "pending", 1
		if e.Times > 0 {
			s.Times, s.Result, s.Returns = e.Times, "success", e.Returns
		}
	case "result":
		at := slices.IndexFunc(t.Steps, func(of Step) bool { return of.As == e.ID && of.Tool != "" })
		if at < 0 {
			v.Fault("no earlier call has this id", "")
		}
		s.Settles, s.Result, s.Returns = at+1, e.Outcome, e.Returns
	default:
		v.Fault(fmt.Sprintf("a counterexample has no event of type %q", e.Type), "use call, result or wait")
	}
	t.Steps = append(t.Steps, s)
}

// expectLast sets the verdict expected for the last call of a counterexample.
func (t *Test) expectLast(expect string) {
	for i := len(t.Steps) - 1; i >= 0; i-- {
		if s := &t.Steps[i]; s.Tool != "" {
			s.Expect = expect
			if expect == ask && s.Approve == sandbox.No {
				s.Approve = sandbox.Nobody
			}
			return
		}
	}
}
