package gate

// An Entry is a past call and its outcome.
type Entry struct {
	Call    Call
	Outcome Outcome
}

// Replay applies past calls to the active nets, in order, to rebuild a session from its history. It
// treats all approvals as granted, and calls validators only for nets in shadow mode. If a net
// would have blocked a call, the call passes anyway, but that net does not count it.
//
// Replay skips failed calls. A limit that counted a failed call does not count it after the replay.
// A call with an [Unknown] outcome stays open.
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
