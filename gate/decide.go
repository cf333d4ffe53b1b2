package gate

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/petrigate/petrigate/gate/internal/naming"
)

// A Prepared call has its names, which do not depend on the state and can thus be computed before a
// state is locked. It must not be used by several goroutines at once.
type Prepared struct {
	// Offered are the tools that can be called; if not nil, they replace [State.Tools], see
	// [Session.Offer].
	Offered []Call

	judgement judgement
}

// Prepare computes the names of c. The arguments of c must not change while the call is open.
func (p *Policy) Prepare(c Call) *Prepared {
	q := &preparedCall{call: c}
	q.name(p, &q.call)
	return &q.Prepared
}

// Reset reuses q for the call c under the policy p; see [Policy.Prepare]. The call must not change
// while q is in use.
func (q *Prepared) Reset(p *Policy, c *Call) {
	q.clear()
	q.name(p, c)
}

// preparedCall is a prepared call together with the call itself.
type preparedCall struct {
	Prepared
	call Call
}

// name prepares the call c under the policy p; q must be clear.
func (q *Prepared) name(p *Policy, c *Call) {
	q.judgement.policy, q.judgement.call = p, c
	q.judgement.name()
}

// maxSpare limits the number of findings whose memory is reused.
const maxSpare = 64

// clear resets q, and keeps its memory for the next call.
func (q *Prepared) clear() {
	keyed := cmp.Or(q.judgement.keyed, q.judgement.spare)
	findings := q.judgement.findings
	*q = Prepared{}
	if n := cap(findings); n > len(q.judgement.findingRoom) && n <= maxSpare {
		q.judgement.findings = findings[:0]
		clear(findings[:n])
	}
	if keyed != nil {
		keyed.clear()
		q.judgement.spare = keyed
	}
}

// Decide is [Policy.Decide] for the call. It can be called again with another state.
func (q *Prepared) Decide(s *State, g *Grant) (Decision, *Delta) {
	if len(q.judgement.waived) > 0 {
		q.Reset(q.judgement.policy, q.judgement.call)
	}
	q.judgement.offered = q.Offered
	return q.judgement.decide(s, g)
}

// Verdicts returns the verdicts of the last decision, without nets that abstain or are in shadow
// mode.
func (q *Prepared) Verdicts() []Verdict { return verdicts(&q.judgement, nil) }

// Decide decides on c in the state s: it returns an [Allow], a [Refusal] or an [Ask], together with
// the resulting change of the state. It does not modify s: the caller must apply the delta to this
// same state, or decide again. The ticket of the Allow is not tied to a session; settle it by its
// number with [Policy.Settle].
//
// Decide calls the hooks of the nets; see [Net.Validate].
func (p *Policy) Decide(s *State, c Call, g *Grant) (Decision, *Delta) {
	return p.Prepare(c).Decide(s, g)
}

// decide runs the phases of a decision. Their order is significant: no person is asked about a call
// that a net forbids, no validator is called before the approval, and no net moves before all have
// agreed.
func (j *judgement) decide(s *State, g *Grant) (Decision, *Delta) {
	g, asked := s.checkGrant(g, j.call)
	if s.idTaken(j.call.ID, asked) {
		return j.duplicate(), nil
	}
	j.classify(s) // structural phase
	j.yield()
	doubts := j.waive(s)
	if r := j.refusal(g); r != nil {
		return r, j.refusalDelta(asked)
	}
	if a, r := j.question(g, doubts); a != nil { // approval phase
		return a, &Delta{Nets: j.ticked, Asked: &OpenAsk{Number: a.Number, Call: *j.call}}
	} else if r != nil {
		return r, j.refusalDelta(asked)
	}
	metas, r := j.validate() // semantic phase
	if r != nil {
		return r, j.refusalDelta(asked)
	}
	return j.commit(g, asked, metas) // all nets or none
}

// checkGrant returns g if it is an unused grant of this session for this call, and nil otherwise. asked
// is the call that waits for the grant, or nil.
func (s *State) checkGrant(g *Grant, c *Call) (*Grant, *OpenAsk) {
	if g == nil || g.Number == 0 || g.Number > s.Last || slices.Contains(s.Spent, g.Number) {
		return nil, nil
	}
	asked := s.Asks[g.Number]
	if asked != nil && (asked.Call.Tool != c.Tool || !bytes.Equal(asked.Call.Args, c.Args)) {
		return nil, nil
	}
	return g, asked
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

// refusal returns the refusal of the structural phase if a net blocks the call, or if no net knows
// the call under default: deny.
func (j *judgement) refusal(g *Grant) *Refusal {
	switch {
	case j.blocked && g != nil:
		return j.refuse(KindStateChanged, j.blocks())
	case j.blocked:
		return j.refuse(KindBlocked, j.blocks())
	case j.denies() && !j.known:
		return j.refuse(KindDefault, nil)
	default:
		return nil
	}
}

// denies reports whether the default refuses unknown calls in this world.
func (j *judgement) denies() bool {
	return j.policy.deny && j.policy.shadow == (j.world == enforced)
}

// question returns the question for a person, including doubts. If g is given but does not cover
// all steps, it returns a refusal, because the state has changed.
func (j *judgement) question(g *Grant, doubts []Step) (*Ask, *Refusal) {
	if !j.manual && len(doubts) == 0 {
		return nil, nil
	}
	steps := append(doubts, j.steps()...)
	if g == nil {
		return &Ask{Number: j.state.Last + 1, Call: *j.call, Names: j.names(), Steps: steps}, nil
	}
	var open []Step
	for _, s := range steps {
		if !g.covers(s) {
			open = append(open, s)
		}
	}
	if len(open) == 0 {
		return nil, nil
	}
	return nil, j.refuse(KindStateChanged, blocksOf(open))
}

// covers reports whether the grant includes this transition of this net and enough approvals for
// it.
func (g *Grant) covers(s Step) bool {
	return slices.ContainsFunc(g.Steps, func(t Step) bool {
		return t.Net == s.Net && t.Transition == s.Transition && slices.Equal(t.Key, s.Key) && t.persons() >= s.persons()
	})
}

// steps returns the chosen transitions that require approval.
func (j *judgement) steps() []Step {
	var steps []Step
	for i := range j.findings {
		f := &j.findings[i]
		for _, c := range f.choices {
			if t := &f.net.Transitions[c.transition]; t.Manual {
				s := f.step(t, c.name)
				i := slices.IndexFunc(f.labels, func(l naming.Label) bool { return l.Text == c.name })
				s.Doubt, s.Reason = j.doubted(f, &f.labels[i], s.Reason)
				s.Reason = f.net.because(s.Reason)
				steps = append(steps, s)
			}
		}
	}
	return steps
}

// names returns the names of the call given by the policy and by the evaluated nets.
func (j *judgement) names() []Name {
	ls := j.labels
	if len(j.waived) > 0 {
		ls = naming.Merge(slices.Clip(ls), j.waived)
	}
	for i := range j.findings {
		if f := &j.findings[i]; f.kind != Abstain && f.net.Labels == nil && f.net.own.Adds() {
			ls = naming.Merge(ls[:len(ls):len(ls)], f.labels)
		}
	}
	return naming.Names(ls)
}

// step returns the step for the approval of t under a name of the call.
func (f *finding) step(t *Transition, name string) Step {
	return Step{
		Net: f.net.Name, Transition: t.Name, Name: name, Via: t.Via, Approvals: t.Approvals, Rule: f.net.Rule,
		Reason: f.fillKey(f.net.approvalReason(name, t.Approvals)), Key: f.keyValues(),
	}
}
