package gate

import (
	"bytes"
	"slices"
)

// Verdicts returns the verdicts of the last decision, except those of nets that abstain or are in
// shadow mode.
func (q *Prepared) Verdicts() []Verdict { return q.judgement.findings.verdicts(nil) }

// Decide decides on c in state s. It returns an [Allow], a [Refusal] or an [Ask], and the resulting
// change to the state. It does not modify s. The caller must apply the delta to this very state, or
// decide again. The Allow's ticket is not tied to a session; settle the call by its number with
// [Policy.Settle].
//
// Decide calls the nets' hooks; see [Net.Validate].
func (p *Policy) Decide(s *State, c Call, g *Grant) (Decision, *Delta) {
	return p.Prepare(c).Decide(s, g)
}

// Decide is [Policy.Decide] for the prepared call. It can be called again with another state.
//
// The order of the phases matters. A person must not be asked about a call that a net forbids, a
// validator must not be called before the approval, and a net must not change its state until all
// nets have agreed.
func (q *Prepared) Decide(s *State, g *Grant) (Decision, *Delta) {
	j := &q.judgement
	if len(j.waived) > 0 {
		q.Reset(j.policy, j.call)
	}
	j.offered = q.Offered
	var asked *OpenAsk
	if g != nil {
		g, asked = s.checkGrant(g, j.call)
	}
	if id := j.call.ID; id != "" && s.ids[id] > 0 && (asked == nil || asked.Call.ID != id) { // a call other than asked has the ID
		j.findings = nil
		return j.refuse(KindDuplicate, nil), nil
	}
	j.classify(s) // structural phase
	var doubts []Step
	if j.blocked {
		j.yield()
		doubts = j.waive(s)
	}
	if r := j.refusal(g); r != nil {
		return r, j.refusalDelta(asked)
	}
	if j.manual || len(doubts) > 0 { // approval phase
		if a, r := j.question(g, doubts); a != nil {
			return a, &Delta{Nets: j.ticked, Asked: &OpenAsk{Number: a.Number, Call: *j.call}}
		} else if r != nil {
			return r, j.refusalDelta(asked)
		}
	}
	metas, r := j.validate() // semantic phase
	if r != nil {
		return r, j.refusalDelta(asked)
	}
	return j.commit(g, asked, metas) // either all nets change, or none
}

// refusal returns the refusal of the structural phase, or nil if the call may proceed. A call is
// refused if a net blocks it or, under default: deny, if no net knows it.
func (j *judgement) refusal(g *Grant) *Refusal {
	switch {
	case j.blocked && g != nil:
		return j.refuse(KindStateChanged, j.blocks())
	case j.blocked:
		return j.refuse(KindBlocked, j.blocks())
	case j.policy.deny && j.policy.shadow == (j.world == enforced) && !j.known:
		return j.refuse(KindDefault, nil)
	default:
		return nil
	}
}

// checkGrant returns the grant g if it is an unused grant of this session for c, and nil otherwise.
// asked is the call that waits for the grant, or nil.
func (s *State) checkGrant(g *Grant, c *Call) (*Grant, *OpenAsk) {
	if g.Number == 0 || g.Number > s.Last || slices.Contains(s.Spent, g.Number) {
		return nil, nil
	}
	asked := s.Asks[g.Number]
	if asked != nil && (asked.Call.Tool != c.Tool || !bytes.Equal(asked.Call.Args, c.Args)) {
		return nil, nil
	}
	return g, asked
}

// Classify returns each active net's verdict on c in state s, in policy order. It includes nets
// that abstain.
func (p *Policy) Classify(s *State, c Call) (vs []Verdict) {
	j := &p.Prepare(c).judgement
	j.classify(s)
	j.yield()
	shadow := j.evaluateShadow(enforced)
	shadow.yield()
	said := j.findings.verdicts(shadow.findings)
	for i, n := range p.nets {
		switch {
		case len(said) > 0 && said[0].Net == n.Name:
			vs, said = append(vs, said[0]), said[1:]
		case s.Nets[i].Active:
			vs = append(vs, Verdict{Net: n.Name, Rule: n.Rule, Shadow: n.Shadow})
		}
	}
	return vs
}
