package gate

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/petrigate/petrigate/gate/internal/naming"
)

// A Prepared call has its names, which do not depend on the state: they are
// found before a state is locked. It is for one goroutine at a time.
type Prepared struct {
	// Offered are the tools that can be called; if not nil, they replace
	// [State.Tools], see [Session.Offer].
	Offered []Call

	judgement judgement
}

// Prepare finds the names of c. The arguments of c must not change while
// the call is open.
func (p *Policy) Prepare(c Call) *Prepared {
	q := &preparedCall{call: c}
	q.name(p, &q.call)
	return &q.Prepared
}

// Reset makes q the call c under the policy p, as [Policy.Prepare] does. The call must
// not change while q is used.
func (q *Prepared) Reset(p *Policy, c *Call) {
	q.clear()
	q.name(p, c)
}

// preparedCall is a prepared call that holds the call itself.
type preparedCall struct {
	Prepared
	call Call
}

// name makes q, which is clear, the call c under the policy p.
func (q *Prepared) name(p *Policy, c *Call) {
	q.judgement.policy, q.judgement.call = p, c
	q.judgement.name()
}

// maxSpare bounds the findings for which space is kept.
const maxSpare = 64

// clear forgets the call, and keeps the space for the next one.
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

// Decide is [Policy.Decide] of the call. It can be called again with another state.
func (q *Prepared) Decide(s *State, g *Grant) (Decision, *Delta) {
	if len(q.judgement.waived) > 0 {
		q.Reset(q.judgement.policy, q.judgement.call)
	}
	q.judgement.offered = q.Offered
	return q.judgement.decide(s, g)
}

// Verdicts returns the verdicts of the last decision: of the nets that do not abstain, without
// those in shadow.
func (q *Prepared) Verdicts() []Verdict { return verdicts(&q.judgement, nil) }

// Decide answers c on the state s: an [Allow], a [Refusal] or an [Ask], with the
// delta. It changes nothing itself: the caller must apply the delta to this very
// state, or decide again. The ticket of the Allow belongs to no
// session; settle its number with [Policy.Settle].
//
// Decide runs the hooks of the nets; see [Net.Validate].
func (p *Policy) Decide(s *State, c Call, g *Grant) (Decision, *Delta) {
	return p.Prepare(c).Decide(s, g)
}

// decide is the pipeline. The order of its steps is the policy: nothing is
// asked that a net forbids, nothing is judged that nobody approved, and
// nothing moves before all have agreed.
func (j *judgement) decide(s *State, g *Grant) (Decision, *Delta) {
	g, asked := s.valid(g, j.call)
	if s.taken(j.call.ID, asked) {
		return j.duplicate(), nil
	}
	j.classify(s) // structural: what each net says
	j.yield()
	doubts := j.waive(s)
	if r := j.refusal(g); r != nil {
		return r, j.answered(asked)
	}
	if a, r := j.question(g, doubts); a != nil { // approval: who has to be asked, and was not
		return a, &Delta{Nets: j.ticked, Asked: &OpenAsk{Number: a.Number, Call: *j.call}}
	} else if r != nil {
		return r, j.answered(asked)
	}
	metas, r := j.validate() // semantic
	if r != nil {
		return r, j.answered(asked)
	}
	return j.commit(g, asked, metas) // all nets or none
}

// valid returns g if it is an unused grant of this session for this call, and no
// grant otherwise. asked is the waiting call, if it waits.
func (s *State) valid(g *Grant, c *Call) (*Grant, *OpenAsk) {
	if g == nil || g.Number == 0 || g.Number > s.Last || slices.Contains(s.Spent, g.Number) {
		return nil, nil
	}
	asked := s.Asks[g.Number]
	if asked != nil && (asked.Call.Tool != c.Tool || !bytes.Equal(asked.Call.Args, c.Args)) {
		return nil, nil
	}
	return g, asked
}

// answered returns the delta of a refusal: the moves of the clock, and the end of
// the wait.
func (j *judgement) answered(a *OpenAsk) *Delta {
	if a == nil && len(j.ticked) == 0 {
		return nil
	}
	d := &Delta{Nets: j.ticked}
	if a != nil {
		d.Answered = a.Number
	}
	return d
}

// refusal returns the refusal of the structural phase if a net blocks, or if no net
// knows the call and the policy requires that.
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

// denies reports whether the default refuses in this world.
func (j *judgement) denies() bool {
	return j.policy.deny && j.policy.shadow == (j.world == enforced)
}

// question returns the question for a person, about the doubts too. With a grant that does not cover a
// step, it returns a refusal: the state has changed since.
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

// covers reports whether the persons were shown this transition of this net, and were
// as many as it needs.
func (g *Grant) covers(s Step) bool {
	return slices.ContainsFunc(g.Steps, func(t Step) bool {
		return t.Net == s.Net && t.Transition == s.Transition && slices.Equal(t.Key, s.Key) && t.persons() >= s.persons()
	})
}

// steps returns the manual transitions among those chosen.
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

// names returns the names by the policy and by the nets that were asked.
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

// step returns the question whether the transition may fire for a name of the call.
func (f *finding) step(t *Transition, name string) Step {
	return Step{
		Net: f.net.Name, Transition: t.Name, Name: name, Via: t.Via, Approvals: t.Approvals, Rule: f.net.Rule,
		Reason: f.about(f.net.approvalReason(name, t.Approvals)), Key: f.named(),
	}
}
