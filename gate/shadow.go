package gate

import "slices"

// shadow adds to d the changes that an admitted call makes to the nets in shadow mode. It returns
// their verdicts and the refusal that they would have caused, or nil if they let the call pass.
func (j *judgement) shadow(d *Delta, number uint64) (findings, *Refusal) {
	w, a := j.evaluateShadow(enforced), j.evaluateShadow(actual)
	var had, has Delta
	r := w.moveEnforced(&had, number)
	a.moveActual(&has, number)
	d.Nets = append(append(d.Nets, w.ticked...), a.ticked...)
	for i := range j.shadows {
		s := &j.shadows[i]
		if s.value != nil && (i == 0 || j.shadows[i-1].net != s.net) { // count the decision in the default state (see [NetData]), because j.shadows contains only the states for key values
			at := subject{net: s.net, data: s.base}
			at.move(d, &Delta{}, &Delta{}, r, baseChange{})
		}
		s.move(d, &had, &has, r, j.baseChange(s, number))
	}
	if r != nil {
		d.Would = r.Kind
	}
	return w.findings, r
}

// move adds to d the new state of a net in shadow mode after a call. The new state combines two
// states (see [ShadowData]): the actual state, changed by the delta has, and the enforced state,
// changed by the delta had. Unless s is the state for a single key value, move also counts the
// refusal r if the net contributed to it. c describes how the call changes the states for all key
// values.
func (s *subject) move(d, had, has *Delta, r *Refusal, c baseChange) {
	key := ""
	if s.value != nil {
		key = s.value.Text
	}
	actual, enforced := has.stateOf(s.net.index, key), had.stateOf(s.net.index, key)
	if s.value != nil && actual == nil && enforced == nil {
		return
	}
	data := s.copyState()
	shadow := data.Shadow
	if actual != nil {
		data = *actual
	}
	if s.value == nil {
		data.Shadow = withAnswer(shadow, s.net.Name, r)
	} else {
		data.Shadow = &ShadowData{Enforced: shadow.Enforced}
	}
	if enforced != nil {
		data.Shadow.Enforced = enforced
	}
	if !c.isEmpty() {
		c.enforced = enforced != nil
		data.Values = s.net.valuesAfter(s.base, &data, c)
	}
	d.set(s.net.index, key, &data)
}

// moveEnforced adds to d the changes that the call would make if the nets in shadow mode blocked
// calls. If these nets would refuse the call, moveEnforced makes no changes and returns the
// refusal. If they would require approval, moveEnforced assumes that the call is approved and makes
// the changes, but still returns a refusal.
func (j *judgement) moveEnforced(d *Delta, number uint64) *Refusal {
	j.yield()
	if r := j.refusal(nil); r != nil {
		return r
	}
	metas, r := j.validate()
	if r != nil {
		return r
	}
	if f := j.applyMoves(d, number, metas); f != nil {
		*d = Delta{}
		return j.unrest(f)
	}
	if over := j.overfull(d); len(over) > 0 {
		*d = Delta{}
		return j.refuseOverfull(over[0])
	}
	if j.manual {
		return j.refuse(KindApproval, blocksOf(j.steps()))
	}
	return nil
}

// moveActual adds to d the changes that the call makes to the actual states (see [ShadowData]) of
// the nets in shadow mode. These states reflect every call, even one that a net would have blocked.
// moveActual skips a net if the call cannot be applied to it.
func (j *judgement) moveActual(d *Delta, number uint64) {
	j.findings.pass()
	metas, _ := j.validate()
	j.applyMoves(d, number, metas)
	j.dropNewValues(d, j.overfull(d))
}

// withAnswer returns a copy of s that counts the decision on a call. If the net with the given name
// contributed to the refusal r, withAnswer adds one to Refused or, for a request for approval, to
// Asked. r may be nil.
func withAnswer(s *ShadowData, net string, r *Refusal) *ShadowData {
	c := *s
	switch {
	case r == nil || !slices.ContainsFunc(r.Blocks, func(b Block) bool { return b.Net == net }):
	case r.Kind == KindApproval:
		c.Asked++
	default:
		c.Refused++
	}
	return &c
}

// A ShadowReport summarizes how the nets in shadow mode would have decided.
type ShadowReport struct {
	WouldCount
	Nets []ShadowState // nets in shadow mode, in the order of the policy
}

// A ShadowState is a copy of the state of a net in shadow mode.
type ShadowState struct {
	Name     string
	Active   bool
	Enforced Marking // marking that would have resulted if the nets in shadow mode had blocked calls and all approvals had been granted
	Actual   Marking // marking that reflects all calls made, as far as possible
	Parted   bool    // whether the two markings differ
	Refused  int     // number of calls that the net would have refused
	Asked    int     // number of calls that the net would have asked a person about
}

// Shadow reports how the nets in shadow mode would have decided.
func (s *Session) Shadow() (r ShadowReport) { return read(s, s.policy.ShadowOf) }

// ShadowOf is like [Session.Shadow], but for state s.
func (p *Policy) ShadowOf(s *State) ShadowReport {
	r := ShadowReport{WouldCount: s.Would}
	for i, n := range p.nets {
		if n.Shadow {
			r.Nets = append(r.Nets, n.shadowState(s.Nets[i]))
		}
	}
	return r
}

func (n *net) shadowState(d *NetData) ShadowState {
	s := ShadowState{
		Name: n.Name, Active: d.Active,
		Enforced: n.show(d.Shadow.Enforced), Actual: n.show(d),
		Refused: d.Shadow.Refused, Asked: d.Shadow.Asked,
	}
	s.Parted = !slices.Equal(s.Enforced, s.Actual)
	return s
}
