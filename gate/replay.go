package gate

// An Entry is a call of the past and how it ended.
type Entry struct {
	Call    Call
	Outcome Outcome
}

// Replay moves the active nets as if these calls had been made now, in order:
// each net on its own, whatever another net says, with every approval given
// and without validators. A net in which a call would be blocked does not
// move. It is for a session that is rebuilt from a history.
//
// A call that failed is left out: it counts for nothing, also where it used
// something up when it was made. A call whose outcome is [Unknown] stays open.
func (s *Session) Replay(entries []Entry) {
	for i := range entries {
		e := &entries[i]
		if e.Outcome == Failure {
			continue
		}
		j := &s.policy.Prepare(e.Call).judgement
		j.past = true
		var number uint64
		s.update(func(state *State) *Delta {
			j.classify(state)
			j.pass()
			_, d := j.commit(nil, nil, nil)
			number = state.Last + 1
			return d
		})
		s.Settle(number, e.Outcome)
	}
}

// pass leaves out the nets that block, but for the evidence that the call spoils,
// and the rows that it ends.
func (j *judgement) pass() {
	findings := j.findings[:0]
	for _, f := range j.findings {
		if f.kind != Blocked || f.moves() {
			findings = append(findings, f)
		}
	}
	j.findings = findings
}
