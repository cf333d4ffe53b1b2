package gate

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/petrigate/petrigate/gate/listing"
	"github.com/petrigate/petrigate/gate/naming"
)

// A Prepared is a call together with the names that a policy gives to it. The names do not depend
// on the state, so they can be computed before a state is locked. A Prepared is not safe for
// concurrent use.
type Prepared struct {
	// Offered lists the tools that can be called. If Offered is not nil, it overrides
	// [State.Tools]; see [Session.Offer].
	Offered []Call

	judgement judgement
}

// Prepare computes the names of c. The arguments of c must not change while the call is open.
func (p *Policy) Prepare(c Call) *Prepared {
	q := &preparedCall{call: c}
	q.judgement.name(p, &q.call)
	return &q.Prepared
}

// Reset prepares q for the call c under policy p, reusing q's memory; see [Policy.Prepare]. The
// caller must not modify c while q is in use.
func (q *Prepared) Reset(p *Policy, c *Call) {
	q.clear()
	q.judgement.name(p, c)
}

// preparedCall is a [Prepared] that also stores the call.
type preparedCall struct {
	Prepared
	call Call
}

// maxSpare limits the number of findings whose memory is reused.
const maxSpare = 128

// clear resets q but keeps its memory for the next call.
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

// name prepares j for a decision on the call c under the policy p. It does the work that does not
// depend on the state. j must be new or cleared by [Prepared.clear], except that withoutMaps can be
// set.
func (j *judgement) name(p *Policy, c *Call) {
	j.policy, j.call = p, c
	j.tools = naming.Physical(c, j.toolRoom[:0])
	if p.rows {
		j.row = p.Row(c)
	}
	if j.withoutMaps {
		j.labels = naming.WithPatterns(append(j.labelRoom[:0], j.tools...), p.names.Patterns())
	} else {
		j.labels = p.names.Labels(c, j.tools, j.labelRoom[:0])
	}
	j.set = p.index.Find(j.labels, j.setRoom[:])
	if p.keyed != nil && !j.withoutMaps {
		j.plan()
	}
}

// namedCall is a call together with the names that a policy gives to it.
type namedCall struct {
	policy      *Policy
	call        *Call
	tools       []naming.Label // physical names of the called tool, which do not depend on the arguments; see [Call]
	labels      []naming.Label // names given by the policy, with the physical names first; see [Call]
	withoutMaps bool           // whether to omit names of the form tool.action and names given by map statements; see [Map]
}

// judgement collects the nets' verdicts on a call. Call [judgement.name] before
// [judgement.classify].
type judgement struct {
	namedCall
	state *State
	set   listing.Set // nets that might apply to the call

	keyed *keyedCall // nil if no net with a key applies to the call, or if the call's arguments are unknown
	spare *keyedCall // cleared object, kept so that the next call can reuse its memory

	findings findings // findings in policy order; nets that abstain have a finding only if the call changes them
	room     []choice // spare capacity for the choices of the next finding
	blocked  bool
	manual   bool
	known    bool       // whether some active net covers the call, so that "default: deny" does not refuse it
	replayed bool       // whether the call has already been made, so that the verdicts cannot prevent it
	offered  []Call     // tools that can be called; nil means [State.Tools]
	world    world      // selects the nets to evaluate and their states
	row      string     // fingerprint of the call (see [argument.Fingerprint]); empty if no net counts consecutive identical calls
	ticked   []NetDelta // changes that the clock made to the states of the evaluated nets
	shadows  []subject  // nets in shadow mode that apply to the call

	waived []naming.Label // uncertain names to ask a person about

	// Preallocated space for the usual case, so that a decision needs few allocations.
	toolRoom    [3]naming.Label
	labelRoom   [4]naming.Label
	findingRoom [5]finding
	choiceRoom  [5]choice
	scratchRoom [8]int
	setRoom     [4]uint64
}

// A world selects the nets that a judgement evaluates and the states that it uses.
type world uint8

const (
	acting   world = iota // the nets that are not in shadow mode
	enforced              // the nets in shadow mode, with the states that they would have if they had blocked calls
	actual                // the nets in shadow mode, with the states that follow from the calls that were actually made
)

// names returns the names that the policy and the evaluated nets give to the call.
func (j *judgement) names() []Name {
	ls := j.labels
	if len(j.waived) > 0 {
		ls = naming.Merge(slices.Clip(ls), j.waived)
	}
	for i := range j.findings {
		if f := &j.findings[i]; f.kind != Abstain && f.net.Labels == nil && f.net.own.Adds() {
			ls = naming.Merge(slices.Clip(ls), f.labels)
		}
	}
	return naming.Names(ls)
}

// Verdicts returns the verdicts of the last decision, except those of nets that abstain or are in
// shadow mode.
func (q *Prepared) Verdicts() []Verdict { return q.judgement.findings.verdicts(nil) }

// Decide decides whether the call c may proceed in state s. It returns an [Allow], a [Refusal] or
// an [Ask], and the resulting change to the state. It does not modify s. The caller must apply the
// delta to this very state, or decide again. The ticket of an Allow is not tied to a session;
// settle the call by its number with [Policy.Settle].
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
	if id := j.call.ID; id != "" && s.ids[id] > 0 && (asked == nil || asked.Call.ID != id) { // another open call has the same ID
		j.findings = nil
		return j.refuse(KindDuplicate, nil), nil
	}
	j.classify(s) // structural phase: ask the nets
	var doubts []Step
	if j.blocked {
		j.yield()
		doubts = j.waive(s)
	}
	if r := j.refusal(g); r != nil {
		return r, j.refusalDelta(asked)
	}
	if j.manual || len(doubts) > 0 { // approval phase: ask a person if necessary
		if a, r := j.question(g, doubts); a != nil {
			return a, &Delta{Nets: j.ticked, Asked: &OpenAsk{Number: a.Number, Call: *j.call}}
		} else if r != nil {
			return r, j.refusalDelta(asked)
		}
	}
	metas, r := j.validate() // semantic phase: ask the validators
	if r != nil {
		return r, j.refusalDelta(asked)
	}
	return j.commit(g, asked, metas) // either all nets change, or none
}

// refusal returns the refusal that follows from the nets' verdicts, or nil if the call may proceed.
// A call is refused if a net blocks it. With "default: deny", it is also refused if no active net
// covers it.
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

// checkGrant checks that the grant g is valid for the call c. If so, it returns g and the approval
// request that g answers; the request is nil if it has already been closed. checkGrant returns nil,
// nil if g was already used, if its number is unknown, or if a call with another tool or other
// arguments was approved.
func (s *State) checkGrant(g *Grant, c *Call) (*Grant, *OpenAsk) {
	if g.Number == 0 || g.Number > s.Last || slices.Contains(s.Spent, g.Number) {
		return nil, nil
	}
	other := func(approved *Call) bool { return approved.Tool != c.Tool || !bytes.Equal(approved.Args, c.Args) }
	asked := s.Asks[g.Number]
	if asked != nil && other(&asked.Call) || g.call != nil && other(g.call) {
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
