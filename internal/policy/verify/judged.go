package verify

import (
	"reflect"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// Nets can judge the arguments of calls, and what they say is not looked at in a
// search: validators, keys, equal calls in a row, sums. A run that is shown to refute
// something is played with what they say: where they refuse the arguments, others are
// tried.

// maxReplayed bounds the calls of a run that is played.
const maxReplayed = 20_000

// judging reports whether some net that is enforced judges arguments.
func judging(nets []*explore.Net) bool {
	return slices.ContainsFunc(nets, func(n *explore.Net) bool {
		return !n.Info.Shadow && (n.Info.Validate != nil || n.Info.Row || n.Info.Sum != nil || n.Keyed())
	})
}

// inARow reports whether some net that is enforced counts equal calls in a row.
func inARow(nets []*explore.Net) bool {
	return slices.ContainsFunc(nets, func(n *explore.Net) bool { return !n.Info.Shadow && n.Info.Row })
}

// checkRefutation is the proof, or that it is unknown where its run has arguments that
// nets refuse and no others were found.
func (m *prover) checkRefutation(p Proof) Proof {
	p.Witness = withoutClasses(p.Witness) // it was played
	run, why := withoutClasses(p.Counterexample), ""
	if m.judging {
		run, why = m.replayed(p.Counterexample, p.query)
	}
	if why != "" {
		return Proof{Assertion: p.Assertion, Why: why}
	}
	p.Counterexample, p.query = run, nil
	return p
}

// checkRun is the run with arguments that the nets accept. Where none were
// found, why says of what; the run is as it was then.
func (m *prover) checkRun(t Trace) (run Trace, why string) {
	if !m.judging || len(t) == 0 {
		return withoutClasses(t), ""
	}
	return m.replayed(t, nil)
}

// replayed is the run with arguments that the nets accept, as it was played. It still
// meets the query; nil: none.
func (m *prover) replayed(t Trace, q *explore.Query) (run Trace, why string) {
	r := m.newReplay(t)
	for _, s := range expandRepeats(t, func(s *Step) bool { return m.rows || s.another() }) {
		if why := r.play(s); why != "" {
			return withoutClasses(t), why
		}
	}
	if q != nil && !r.meets(q) {
		return withoutClasses(t), explore.WhyValues
	}
	return withoutClasses(r.run), ""
}

// withoutClasses is the run as a report has it.
func withoutClasses(t Trace) Trace {
	t = slices.Clone(t)
	for i := range t {
		t[i].class = nil
	}
	return t
}

// another reports whether the step is a call of another value than the tracked one.
func (s *Step) another() bool { return s.class != nil && s.class.HasOther() }

// maxApart bounds the calls of a step that are written one by one.
const maxApart = 64

// expandRepeats writes calls one by one that a step makes several times, so that they can have
// different arguments.
func expandRepeats(t Trace, may func(*Step) bool) Trace {
	var out Trace
	number := 0
	at := make(map[int]int)
	for _, s := range t {
		if s.Ends {
			s.Call = at[s.Call]
			out = append(out, s)
			continue
		}
		times := s.Times
		if times > maxApart || s.Wait > 0 || !may(&s) {
			times = 0
		}
		for range max(1, times) {
			number++
			one := s
			at[s.Call], one.Call = number, number
			if times > 0 {
				one.Times = 0
				out = append(out, one, Step{Call: number, Ends: true, Outcome: gate.Success})
			} else {
				out = append(out, one)
			}
		}
	}
	return out
}

func (m *prover) call(tool, args string) gate.Call {
	c := gate.Call{Tool: tool, Also: m.also[tool]}
	if args != "" {
		c.Args = []byte(args)
	}
	return c
}

// others are arguments with which a net may let the call pass that refused it, where
// the call has the same names with them: members that the conditions of nets name, or
// one that no net reads.
func (m *prover) others(s *Step, refused *gate.Refusal, number int) []string {
	var tried []string
	switch {
	case refused.Kind == gate.KindValidation:
		tried = callclass.Extended(s.Args, m.conditions)
	case m.rows:
		tried = callclass.Numbered(s.Args, number)
	}
	names := m.policy.Names(m.call(s.Tool, s.Args))
	return slices.DeleteFunc(tried, func(args string) bool {
		return !reflect.DeepEqual(m.policy.Names(m.call(s.Tool, args)), names)
	})
}
