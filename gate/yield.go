package gate

import (
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate/internal/netstate"
	"github.com/petrigate/petrigate/gate/internal/precedence"
)

// yield drops the verdicts of advisory nets that yield now.
func (j *judgement) yield() {
	if !j.blocked || !j.policy.advisory || !slices.ContainsFunc(j.findings, func(f finding) bool { return f.kind == Blocked && f.net.Advisory }) {
		return
	}
	settled := newAdviser(j.policy, j.state, j.callable(), j.world, j.call.Time).heed()
	j.blocked, j.manual = false, false
	for i := range j.findings {
		f := &j.findings[i]
		if f.kind == Blocked && settled.Yields[f.net.index] {
			f.kind = Yields
		}
		j.blocked = j.blocked || f.kind == Blocked
		j.manual = j.manual || f.manual()
	}
}

// callable returns the tools that can be called, as far as they are known.
func (j *judgement) callable() []Call {
	if j.offered != nil {
		return j.offered
	}
	return j.state.Tools
}

// adviser finds out which tools the nets block now, and which nets yield.
type adviser struct {
	policy *Policy
	state  *State
	tools  []Call // that can be called
	world  world  // acting, or enforced
	now    time.Time

	contest *precedence.Contest
	j       judgement
}

func newAdviser(p *Policy, s *State, tools []Call, w world, now time.Time) *adviser {
	return &adviser{policy: p, state: s, tools: tools, world: w, now: now, contest: precedence.New(p.ranks(), len(tools))}
}

// ranks returns what ranks the nets where they contradict each other.
func (p *Policy) ranks() []precedence.Net {
	ranks := make([]precedence.Net, len(p.nets))
	for i, n := range p.nets {
		ranks[i] = precedence.Net{Name: n.Name, Priority: n.Priority, Advisory: n.Advisory}
	}
	return ranks
}

// heed decides which nets do not yield.
func (v *adviser) heed() *precedence.Settled {
	for i := range v.tools {
		v.judge(i)
		v.add(&v.j, i)
		if v.world == enforced {
			v.add(v.j.in(enforced), i)
		}
	}
	for _, n := range v.policy.nets {
		if v.recovering(n) {
			v.contest.Recover(n.index)
		}
	}
	return v.contest.Settle()
}

// judge asks the nets about one tool.
func (v *adviser) judge(tool int) {
	c := v.tools[tool]
	c.Args, c.Time = nil, v.now
	v.j = judgement{policy: v.policy, call: &c, bare: true}
	v.j.name()
	v.j.classify(v.state)
}

// add records which nets block the tool whatever its arguments are.
func (v *adviser) add(j *judgement, tool int) {
	for i := range j.findings {
		if f := &j.findings[i]; j.hides(f) {
			v.contest.Block(f.net.index, tool)
		}
	}
}

// recovering reports whether the marking of an active net, as it is shown, is
// that of recovery. A net in shadow overrules none that is enforced.
func (v *adviser) recovering(n *net) bool {
	data := v.state.Nets[n.index]
	if n.Recovery == nil || !data.Active || n.Shadow && v.world != enforced {
		return false
	}
	for d := range netstate.Distinct(data) {
		if n.recovers(n.at(d, nil, v.now).Deciding()) {
			return true
		}
	}
	return false
}

// recovers reports whether the marking is that of recovery; of a net with a key, that
// for one value is enough.
func (n *net) recovers(d *NetData) bool {
	for _, tokens := range n.show(d) {
		if tokens.Count < n.Recovery[tokens.Place] {
			return false
		}
	}
	return true
}
