package gate

// An Entry is a past call and its outcome.
type Entry struct {
	Call    Call
	Outcome Outcome
}

// Replay makes the calls in order, as if they were made now, and thus changes the active nets. Use
// it to rebuild a session from a history. All approvals count as granted, and validators are not
// called. If a net would block a call, the call does not change that net but still changes the
// others.
//
// Failed calls have no effect, even if they used up tokens when they were made. A call with an
// [Unknown] outcome stays open.
func (s *Session) Replay(entries []Entry) {
	for i := range entries {
		e := &entries[i]
		if e.Outcome == Failure {
			continue
		}
		j := &s.policy.Prepare(e.Call).judgement
		j.replayed = true
		var number uint64
		s.update(func(state *State) *Delta {
			j.classify(state)
			j.findings.pass()
			_, d := j.commit(nil, nil, nil)
			number = state.Last + 1
			return d
		})
		s.Settle(number, e.Outcome)
	}
}
