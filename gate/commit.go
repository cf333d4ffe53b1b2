package gate

// commit moves all nets, or none if one of them would not come to rest.
func (j *judgement) commit(g *Grant, asked *OpenAsk, metas []Meta) (Decision, *Delta) {
	// Allocated separately from the delta, because the state keeps it until the call ends and would
	// otherwise keep the nets of the delta alive.
	open := &OpenCall{Number: j.state.Last + 1, Call: *j.call}
	d := &Delta{Opened: open, Nets: j.ticked}
	if asked != nil {
		d.Answered, open.Number = asked.Number, asked.Number
	}
	if g != nil {
		d.Spent = g.Number
	}
	if f := j.applyMoves(d, open.Number, metas); f != nil {
		return j.unrest(f), j.refusalDelta(asked)
	}
	over := j.overfull(d)
	if len(over) > 0 && !j.replayed {
		return j.refuseOverfull(over[0]), j.refusalDelta(asked)
	}
	j.dropNewValues(d, over)
	shadow, would := j.shadow(d, open.Number)
	j.recordWaiting(d, open)
	j.near(d)
	a := &struct {
		allow  Allow
		ticket Ticket
	}{Allow{Names: j.names(), Nets: j.findings.verdicts(shadow), Would: would}, Ticket{Number: open.Number, Awaited: len(open.Nets) > 0}}
	a.allow.Ticket = &a.ticket
	return &a.allow, d
}

// recordWaiting records the nets that wait for the end of the call. It drops the arguments unless a hook
// needs them.
func (j *judgement) recordWaiting(d *Delta, open *OpenCall) {
	remembers := false
	for _, delta := range d.Nets {
		n := j.policy.nets[delta.Net]
		call := Flight{Owner: j.state.Owners[n.Scope], Call: open.Number}
		if delta.Data.Waits(&call) || n.Shadow && delta.Data.Shadow.Enforced.Waits(&call) {
			open.Nets = append(open.Nets, delta.Net)
			if len(n.keys) > 0 || open.Keys != nil {
				open.wait(delta.Key)
			}
			remembers = remembers || n.OnSuccess != nil || n.mixed
		}
	}
	if !remembers {
		open.Call.Args = nil
	}
}

// refusalDelta returns the delta of a refusal: the changes by the clock, and the end of the waiting
// call a, which may be nil.
func (j *judgement) refusalDelta(a *OpenAsk) *Delta {
	if a == nil && len(j.ticked) == 0 {
		return nil
	}
	d := &Delta{Nets: j.ticked}
	if a != nil {
		d.Answered = a.Number
	}
	return d
}
