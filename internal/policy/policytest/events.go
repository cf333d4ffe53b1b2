package policytest

import (
	"slices"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy"
)

// event reads an event of a counterexample, as "check --json" prints it and as
// cases have it: every call is made, and those that have a result end with it.
func (p *parser) event(t *Test, v config.Value) {
	s := Step{Position: v.Position(), Times: 1, Expect: allow, Result: "pending"}
	kind, id, outcome := "", "", ""
	before := p.doc.Faults()
	v.Fields(config.Keys{
		"type":    func(v config.Value) { kind, _ = v.Word("call", "result", "wait") },
		"for":     func(v config.Value) { s.After, _ = v.Duration() },
		"id":      func(v config.Value) { id, _ = v.Text() },
		"tool":    func(v config.Value) { s.Tool, _ = v.Text() },
		"also":    func(v config.Value) { s.Also = v.Texts() },
		"args":    func(v config.Value) { s.Args, _ = v.Object() },
		"approve": func(v config.Value) { s.Approve = approve(v) },
		"outcome": func(v config.Value) { outcome, _ = v.Word("success", "failure", "unknown") },
	})
	switch {
	case p.doc.Faults() > before:
	case kind == "wait" && s.After > 0:
		s = Step{Position: s.Position, After: s.After}
	case kind == "call" && s.After == 0 && s.Tool != "":
		s.As = id
	case kind == "result" && outcome != "":
		at := slices.IndexFunc(t.Steps, func(of Step) bool { return of.As == id && of.Tool != "" })
		if at < 0 {
			v.Fault("no earlier call has this id", "")
		}
		s = Step{Position: s.Position, Settles: at + 1, Result: outcome}
	default:
		v.Fault("it is no event of a counterexample", `as {"type": "call", "id": "1", "tool": "a"} and {"type": "result", "id": "1", "outcome": "success"}`)
	}
	t.Steps = append(t.Steps, s)
}

// ends sets what is expected of the last call of a counterexample.
func (t *Test) ends(expect string) {
	for i := len(t.Steps) - 1; i >= 0; i-- {
		if s := &t.Steps[i]; s.Tool != "" {
			s.Expect = expect
			if expect == ask && s.Approve == policy.No {
				s.Approve = policy.Nobody
			}
			return
		}
	}
}
