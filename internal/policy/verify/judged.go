package verify

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// The searches ignore the arguments of calls. Nets, however, judge arguments by validators, keys,
// sums, and limits on consecutive identical calls. A run that refutes a claim is therefore replayed
// in the gate. If a net refuses the arguments of a call, other arguments are tried.

// checkRefutation replays the counterexample of p and returns p with the run that the gate
// admitted. If nets refuse all arguments that are tried, the result is unknown.
func (m *prover) checkRefutation(p Proof) Proof {
	p.Witness = withoutClasses(p.Witness) // the witness has already been replayed
	run, why := withoutClasses(p.Counterexample), ""
	if m.judging {
		run, why = m.checkReplay(p.Counterexample, p.query)
	}
	if why != "" {
		return Proof{Assertion: p.Assertion, Why: why}
	}
	p.Counterexample, p.query = run, nil
	return p
}

// checkRun returns the trace t with arguments that the nets accept. If it finds no such arguments,
// it returns t unchanged and a reason that names the refused call.
func (m *prover) checkRun(t Trace) (run Trace, why string) {
	if !m.judging || len(t) == 0 {
		return withoutClasses(t), ""
	}
	return m.checkReplay(t, nil)
}

// checkReplay replays the trace t in the gate. It returns the run that the gate admitted, with
// arguments that the nets accept. If the gate refuses a call, checkReplay returns t and a reason.
// It does the same if q is not nil and the run does not meet q.
func (m *prover) checkReplay(t Trace, q *explore.Query) (run Trace, why string) {
	r := m.newReplay(t)
	for _, s := range expandRepeats(t, func(s *Step) bool { return m.rows || s.hasOther() }) {
		if why := r.play(s); why != "" {
			return withoutClasses(t), why
		}
	}
	if q != nil && !r.meets(q) {
		return withoutClasses(t), explore.WhyValues
	}
	return withoutClasses(r.run), ""
}

// withoutClasses returns a copy of the trace t without the classes of its calls, which a report
// must not contain.
func withoutClasses(t Trace) Trace {
	t = slices.Clone(t)
	for i := range t {
		t[i].class = nil
	}
	return t
}

// maxExpanded is the maximum number of repetitions that expandRepeats writes out as separate calls.
// A step with more repetitions stays a single step.
const maxExpanded = 64

// expandRepeats writes out repeated steps as separate calls, so that their arguments can differ. It
// expands only the steps that the given function accepts. It leaves steps with more than
// maxExpanded repetitions, or with a wait, unchanged.
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
		if times > maxExpanded || s.Wait > 0 || !may(&s) {
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
