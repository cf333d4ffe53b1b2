package gate

import (
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate/internal/netstate"
	"github.com/petrigate/petrigate/gate/internal/precedence"
	"github.com/petrigate/petrigate/gate/naming"
	"github.com/petrigate/petrigate/internal/list"
)

// yield sets the verdict of a blocking net to [Yields] if the net is advisory and other nets
// currently take precedence; see [Net.Advisory].
func (j *judgement) yield() {
	if !j.blocked || !j.policy.advisory || !slices.ContainsFunc(j.findings, func(f finding) bool { return f.kind == Blocked && f.net.Advisory }) {
		return
	}
	tools := j.offered
	if tools == nil {
		tools = j.state.Tools
	}
	settled := newAdviser(j.policy, j.state, tools, j.world, j.call.Time).settle()
	j.blocked, j.manual = false, false
	for i := range j.findings {
		f := &j.findings[i]
		if f.kind == Blocked && settled.Yields[f.net.index] {
			f.kind = Yields
		}
		j.blocked = j.blocked || f.kind == Blocked
		j.manual = j.manual || f.manual
	}
}

// An adviser determines which advisory nets (see [Net.Advisory]) yield to others. For each tool
// that can be called, it finds out which nets currently block it.
type adviser struct {
	policy *Policy
	state  *State
	tools  []Call // tools that can be called
	world  world  // enforced if nets in shadow mode count as blocking calls; acting if they are ignored
	now    time.Time

	contest *precedence.Contest
	j       judgement
}

func newAdviser(p *Policy, s *State, tools []Call, w world, now time.Time) *adviser {
	return &adviser{policy: p, state: s, tools: tools, world: w, now: now, contest: precedence.New(p.ranks(), len(tools))}
}

// ranks returns the name and priority of each net, and whether it is advisory.
func (t *netTable) ranks() []precedence.Net {
	return list.Map(t.nets, func(n *net) precedence.Net {
		return precedence.Net{Name: n.Name, Priority: n.Priority, Advisory: n.Advisory}
	})
}

// settle decides which nets take effect and which yield to others.
func (v *adviser) settle() *precedence.Settled {
	for i := range v.tools {
		v.judge(i)
		v.add(&v.j, i)
		if v.world == enforced {
			v.add(v.j.evaluateShadow(enforced), i)
		}
	}
	for _, n := range v.policy.nets {
		if v.recovering(n) {
			v.contest.Recover(n.index)
		}
	}
	return v.contest.Settle()
}

// judge evaluates the nets for a call without arguments to the tool at the given index in v.tools.
func (v *adviser) judge(tool int) {
	c := v.tools[tool]
	c.Args, c.Time = nil, v.now
	v.j = judgement{namedCall: namedCall{withoutMaps: true}}
	v.j.name(v.policy, &c)
	v.j.classify(v.state)
}

// add records which nets block every call to the tool, regardless of the arguments.
func (v *adviser) add(j *judgement, tool int) {
	for i := range j.findings {
		if f := &j.findings[i]; j.hides(f) {
			v.contest.Block(f.net.index, tool)
		}
	}
}

// recovering reports whether the net is active and in recovery; see [Net.Recovery]. For a net in
// shadow mode, it returns false unless v treats such nets as if they blocked calls.
func (v *adviser) recovering(n *net) bool {
	data := v.state.Nets[n.index]
	if n.Recovery == nil || !data.Active || n.Shadow && v.world != enforced {
		return false
	}
	for d := range netstate.Distinct(data) {
		if n.recovers(n.advanced(d, nil, v.now).Deciding()) {
			return true
		}
	}
	return false
}

// recovers reports whether the net is in recovery in the state d; see [Net.Recovery]. Tokens in
// flight count as being in the places that they came from.
func (n *net) recovers(d *NetData) bool {
	return !slices.ContainsFunc(n.show(d), func(t Tokens) bool { return t.Count < n.Recovery[t.Place] })
}

// hides reports whether the net blocks the call regardless of its arguments.
func (c *namedCall) hides(f *finding) bool { return f.kind == Blocked && !c.canUnblock(f) }

// canUnblock reports whether the net would let the call pass with suitable arguments. For example,
// the arguments could give the call a name that exempts it from the net's restrictions.
func (c *namedCall) canUnblock(f *finding) bool {
	if f.broken {
		return false
	}
	n := f.net
	if n.Row || f.objection() != "" && f.special.phase == nil {
		return true
	}
	if f.special != nil && f.special.phase != nil {
		return slices.ContainsFunc(f.special.phase.Tools, func(u Tool) bool { return c.couldGive(n, u, Surely) })
	}
	if n.MatchFirst && n.own.Maps != nil && slices.ContainsFunc(c.tools, func(t naming.Label) bool { return n.own.Maps.Has(t.Text) }) {
		return true
	}
	l := &f.labels[f.label]
	if except := n.listing.Except(l); except != "" && c.couldGive(n, Tool{Name: except}, Surely) {
		return true
	}
	lists, _ := n.listing.Lookup(l, nil)
	return slices.ContainsFunc(lists, func(t int) bool {
		return slices.ContainsFunc(n.Transitions[t].Unless, func(u Tool) bool { return c.couldGive(n, u, Surely) })
	})
}

// couldGive reports whether suitable arguments could give a call to c's tool a name that matches u,
// a tool that the net n lists. If how is [Surely], the call must also be certain to have that name.
func (c *namedCall) couldGive(n *net, u Tool, how Found) bool {
	if n.Labels != nil {
		return c.policy.names.CanGive(c.tools, &u, how == Surely)
	}
	return n.own.CanGive(c.tools, &u, how == Surely)
}
