package verify

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// Nets can judge the arguments of calls with validators, keys, rows of equal calls and sums. The
// searches do not evaluate these. A run that refutes a claim is therefore replayed in the gate; if
// a net refuses the arguments of a call, other arguments are tried.

// checkRefutation returns the proof with its counterexample replayed. The proof becomes unknown if
// nets refuse arguments of the run and no other arguments were found.
func (m *prover) checkRefutation(p Proof) Proof {
	p.Witness = withoutClasses(p.Witness) // already replayed
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

// checkRun returns the run with arguments that the nets accept. If none were found, why names the
// call, and the run is unchanged.
func (m *prover) checkRun(t Trace) (run Trace, why string) {
	if !m.judging || len(t) == 0 {
		return withoutClasses(t), ""
	}
	return m.replayed(t, nil)
}

// replayed returns the run as the gate admitted it, with arguments that the nets accept. It checks
// that the run still meets the query; nil: no query.
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

// withoutClasses returns the run as a report shows it.
func withoutClasses(t Trace) Trace {
	t = slices.Clone(t)
	for i := range t {
		t[i].class = nil
	}
	return t
}

// maxApart bounds the repetitions of a step that are written one by one.
const maxApart = 64

// expandRepeats writes the repetitions of a step as separate calls if may selects the step, so that
// they can have different arguments.
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
