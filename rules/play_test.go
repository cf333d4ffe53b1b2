package rules_test

import (
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// TestPlay plays calls under rules in the gate. A step is a tool, followed by "!" if the call
// fails, and preceded by "+20s" if time passes before it; "2:" makes it a call in a second session
// of the same principal. The answers are "ok", "no", "ask", and "would" for a call that a rule in
// shadow would have refused.
func TestPlay(t *testing.T) {
	tests := []struct{ name, src, steps, want string }{
		{"once", "require a before b once", "b a! b a b b a b", "no ok no ok ok ok ok ok"},
		{"not once", "require a before b", "a b b", "ok ok no"},
		{"per call", "limit b to 1 per a", "b b a! b a b b", "ok no ok ok ok ok no"},
		{"per successful call", "limit b to 1 per successful a", "b b a! b a b b", "ok no ok no ok ok no"},
		{"a window", "limit b to 2 per minute", "b b b +29s b +1s b b +60s b b b", "ok ok no no ok no ok ok no"},
		{"one session", "limit b to 1 per session", "b b 2:b", "ok no ok"},
		{"all sessions of a user", "limit b to 1 per user", "b 2:b b", "ok no no"},
		{"a shadow", "shadow block b\nblock c", "a b c", "ok would no"},
		{"a shadow beside the rule", "shadow limit b to 1 per session\nlimit b to 2 per session", "b b b", "ok would no"},
		{"an exemption by name", "block * unless a, b*", "a bc c", "ok ok no"},
		{"an exemption of an approval", "require human-approval via cli before * unless a", "a b", "ok ask"},
		{"an exemption of a limit", "limit * to 1 per session unless a", "b a a c", "ok ok ok no"},
		{"an exemption of what waits", "require a before * unless c", "c b a b", "ok no ok ok"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := play(t, test.src, test.steps); got != test.want {
				t.Errorf("%s is answered %s, want %s", test.steps, got, test.want)
			}
		})
	}
}

func play(t *testing.T, src, steps string) string {
	t.Helper()
	c := compile(t, src)
	p, err := gate.NewPolicy(c.Nets, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_000_000, 0)
	o := gate.SessionOptions{Time: now, Principal: gate.NewShared(p, gate.ScopePrincipal, gate.SharedOptions{Time: now})}
	first, second := gate.NewSession(p, o), gate.NewSession(p, o)
	var answers []string
	for _, step := range strings.Fields(steps) {
		if wait, ok := strings.CutPrefix(step, "+"); ok {
			d, err := time.ParseDuration(wait)
			if err != nil {
				t.Fatal(err)
			}
			now = now.Add(d)
			continue
		}
		s, tool := first, step
		if name, ok := strings.CutPrefix(step, "2:"); ok {
			s, tool = second, name
		}
		tool, fails := strings.CutSuffix(tool, "!")
		answers = append(answers, answer(s.Decide(gate.Call{Tool: tool, Time: now}, nil), !fails))
	}
	return strings.Join(answers, " ")
}

// answer settles an admitted call and returns the decision.
func answer(d gate.Decision, success bool) string {
	switch d := d.(type) {
	case *gate.Refusal:
		return "no"
	case *gate.Allow:
		outcome := gate.Failure
		if success {
			outcome = gate.Success
		}
		d.Ticket.Settle(outcome)
		if d.Would != nil {
			return "would"
		}
		return "ok"
	}
	return "ask"
}
