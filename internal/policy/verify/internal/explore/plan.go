package explore

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// Plan searches for a shortest run of successful calls that ends with a call tagged as [Wanted]. If
// it finds such a run, the answer is Refuted and contains the run. If the known classes of calls
// admit no such run, the answer is Proved. If the search is cut off, the answer is Unknown. Plan
// does not check whether classes are missing; see [callclass.Enumerator.Gap]. If witnessed is true,
// Plan considers only calls with known tools and arguments.
func (m *Model) Plan(tag func(*callclass.Class) uint8, witnessed bool) Answer {
	q := &Query{Tag: tag, Sole: -1}
	nets, _ := m.seed(q)
	return m.planFor(q, nets, ViewOptions{Tag: tag, witnessed: witnessed, Limit: m.Limit})
}

// ShrinkPlanless returns a subset of the nets that admits no plan for the query's goal. The given
// nets together must not admit a plan. A search over all interleavings is cheaper if it starts with
// fewer nets.
func (m *Model) ShrinkPlanless(q *Query, nets []int) []int {
	o := ViewOptions{Tag: q.Tag, Limit: min(m.Limit, GroupLimit)}
	left, _ := leaveOut(nets, func(fewer []int) Result {
		if path, ok := m.newPlanner(m.view(fewer, o), q.Sole).search(o); !ok || path != nil {
			return Unknown
		}
		return Proved
	})
	return left
}

// planFor finds the shortest successful run to a call that q tags as [Wanted], by abstraction
// refinement. It makes a plan with the given nets and replays it in all nets. If a net blocks the
// plan, planFor adds this net and plans again.
func (m *Model) planFor(q *Query, nets []int, o ViewOptions) Answer {
	for {
		v := m.view(nets, o)
		p := m.newPlanner(v, q.Sole)
		path, ok := p.search(o)
		if !ok {
			return Answer{Why: m.StopReason()}
		}
		if path == nil {
			return Answer{Result: Proved, Nets: nets}
		}
		ms := p.moves(path)
		stopped := m.Objection(q, ms)
		if stopped < 0 {
			return Answer{Result: Refuted, Moves: ms}
		}
		if slices.Contains(nets, stopped) {
			return Answer{Why: "a plan fails in the nets that it was built from"}
		}
		nets = append(nets, stopped)
		slices.Sort(nets)
	}
}

// search returns the classes of a shortest plan, or nil if no plan exists. ok is false if the
// search was cut off. search expands the states with the shortest estimated plans first.
// [scope.minLength] estimates their distance from the goal.
func (p *planner) search(o ViewOptions) (path []int, ok bool) {
	limit := p.bound(o)
	defer func() { p.model.visited(p.view, len(p.states)) }()
	start := p.start
	if start == nil {
		start = make([]int, len(p.view.nets))
	}
	if path := p.landmarkPlan(start); path != nil {
		return path, true
	}
	p.visit(start, -1, -1)
	for asked := -askEvery; p.least < len(p.queue); {
		queue := p.queue[p.least]
		if len(queue) == 0 {
			p.least++
			continue
		}
		k := queue[len(queue)-1]
		p.queue[p.least] = queue[:len(queue)-1]
		if len(p.states) > limit || p.model.mustStop(&asked, len(p.states)) {
			return nil, false
		}
		for _, c := range p.goal {
			if p.meets(p.states[k], c) {
				return append(p.path(k), c), true
			}
		}
		for _, c := range p.stubbornSet(p.states[k]) {
			p.visit(p.stateAfter(p.states[k], c), k, c)
		}
	}
	return nil, true
}

// FindDetour finds a shortest sequence of successful calls, starting in the given state of a
// session, that makes a call of the given class possible. It considers only the given nets, and
// only classes accepted by offers. If witnessed is true, it considers only calls with known tools
// and arguments. plan is nil if no such sequence was found. complete is false if the search was cut
// off.
func (m *Model) FindDetour(nets []int, goal *callclass.Class, from []*gate.NetData, offers func(*callclass.Class) bool, witnessed bool) (
	plan []*callclass.Class, complete bool,
) {
	o := ViewOptions{witnessed: witnessed, Limit: m.Limit}
	v := m.view(nets, o)
	v.classes = slices.DeleteFunc(v.classes, func(c class) bool { return !offers(c.member) })
	last := class{member: goal, tag: Wanted}
	for _, effect := range goal.Effects {
		if at := v.at[effect.Net]; at >= 0 {
			effect.Net = at
			last.effects = append(last.effects, effect)
		}
	}
	v.classes = append(v.classes, last)
	p := m.newPlanner(v, -1)
	for i, n := range v.nets {
		p.start = append(p.start, n.internData(from[nets[i]]))
	}
	path, complete := p.search(o)
	if path == nil {
		return nil, complete
	}
	plan = make([]*callclass.Class, 0, len(path))
	for _, c := range path[:len(path)-1] {
		plan = append(plan, v.classes[c].member)
	}
	return plan, true
}
