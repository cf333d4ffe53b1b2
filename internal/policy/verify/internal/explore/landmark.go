package explore

import (
	"slices"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// A landmark is a disjunctive action landmark: a set of calls such that every run to the goal
// contains at least one of them.
type landmark struct {
	calls  []int
	nets   []int // nets that together block all calls of the parent landmark; a call of this landmark changes the state of one of them
	parent int   // index of the landmark that this landmark must precede; -1 for the goal itself
}

// landmarks returns landmarks of the runs that lead from the given state to a call in goal. The
// first landmark is goal itself. If nets block all calls of a landmark, the calls that change the
// state of one of these nets form another landmark. ok is false if a landmark is empty, because
// then no run reaches the goal.
//
// If sole is not -1, it is the position of a net that is ignored as a blocker of the calls in goal.
func (g *scope) landmarks(state []int, goal []int, sole int) (found []landmark, ok bool) {
	g.round++
	found = append(found, landmark{calls: goal, parent: -1})
	for k := 0; k < len(found); k++ {
		if k > 0 {
			sole = -1
		}
		for _, nets := range g.barriers(state, found[k].calls, sole) {
			if len(nets) == 1 && g.opened[nets[0]] == g.round {
				continue
			}
			var openers []int
			for _, n := range nets {
				g.opened[n] = g.round
				openers = g.appendOpeners(openers, state[n], n)
			}
			found = append(found, landmark{openers, nets, k})
			if len(openers) == 0 {
				return found, false
			}
		}
	}
	return found, true
}

// barriers returns sets of nets such that at least one net in each set must change its state before
// any of the calls is admitted. A set consists of a single net that blocks all calls, or of one net
// for each call. If some call is not blocked, barriers returns nil.
func (g *scope) barriers(state []int, calls []int, sole int) [][]int {
	var common, each []int
	fresh := false
	for i, c := range calls {
		first := -1
		var blocking []int
		for _, t := range g.calls[c] {
			if t.Net != sole && g.nets[t.Net].begin(state[t.Net], t.Meaning).verdict == blocks {
				if blocking = append(blocking, t.Net); first < 0 {
					first = t.Net
				}
			}
		}
		if first < 0 {
			return nil
		}
		if i == 0 {
			common = blocking
		} else {
			common = slices.DeleteFunc(common, func(n int) bool { return !slices.Contains(blocking, n) })
		}
		if !slices.Contains(each, first) {
			each = append(each, first)
			fresh = fresh || g.opened[first] != g.round
		}
	}
	if len(common) == 0 && fresh {
		return [][]int{each}
	}
	return list.Map(common, func(n int) []int { return []int{n} })
}

// appendOpeners appends to calls each call that net n admits in the given local state and that
// changes this state. It returns the extended slice.
func (g *scope) appendOpeners(calls []int, local, n int) []int {
	for _, u := range g.users[n] {
		b := g.nets[n].begin(local, u.Meaning)
		if b.verdict == blocks {
			continue
		}
		moves := b.next != local || b.hold != 0
		if !g.fails {
			moves = g.nets[n].success(local, u.Meaning) != local
		}
		if moves && !slices.Contains(calls, u.Net) {
			calls = append(calls, u.Net)
		}
	}
	return calls
}

// minLength returns a lower bound on the length of any run that contains a call of each landmark.
// It counts the landmarks that have no call in common with a landmark counted earlier.
func (g *scope) minLength(found []landmark) int {
	count := 0
	g.round++
	for _, l := range found {
		if !slices.ContainsFunc(l.calls, func(c int) bool { return g.marked[c] == g.round }) {
			count++
			for _, c := range l.calls {
				g.marked[c] = g.round
			}
		}
	}
	return count
}

// wholeScope returns the scope that contains all classes and permits every outcome.
func (m *Model) wholeScope() *scope {
	if m.all == nil {
		m.all = newScope(m.Nets, list.Map(m.Classes, func(s *callclass.Class) []callclass.Effect { return s.Effects }))
		m.all.fails = true
	}
	return m.all
}

// seed returns nets that block the calls of the goal, or calls that must precede them. The search
// for the goal starts with these nets. barred reports whether these nets make the goal impossible,
// regardless of outcomes and interleavings.
func (m *Model) seed(q *Query) (nets []int, barred bool) {
	goal := q.goalClasses(m.Classes)
	if len(goal) == 0 {
		return nil, false
	}
	found, ok := m.wholeScope().landmarks(make([]int, len(m.Nets)), goal, -1)
	for k := len(found) - 1; k > 0; {
		nets = append(nets, found[k].nets...)
		if k--; !ok {
			k = found[k+1].parent
		}
	}
	slices.Sort(nets)
	return slices.Compact(nets), !ok
}

// goalClasses returns the indexes of the classes that q tags as [Wanted].
func (q *Query) goalClasses(classes []*callclass.Class) []int {
	return list.Indexes(classes, func(s *callclass.Class) bool { return q.Tag(s)&Wanted != 0 })
}

// wantedClasses returns the indexes of the view's classes that are tagged as [Wanted].
func (v *view) wantedClasses() []int {
	return list.Indexes(v.classes, func(c class) bool { return c.tag&Wanted != 0 })
}

// scopeOf returns the scope that consists of the view's nets and classes.
func (v *view) scopeOf() *scope {
	return newScope(v.nets, list.Map(v.classes, func(c class) []callclass.Effect { return c.effects }))
}

// A plan cannot be shorter than the number of disjoint landmarks. If a plan of that length exists,
// as for a chain of rules, landmarkPlan usually finds it without a search.

// landmarkPlan tries to build a plan from one call of each landmark, in an order that the landmarks
// permit. It returns nil if this fails or if a shorter plan might exist. It also returns nil if
// [Query].Sole requires that only one net blocks the wanted call.
func (p *planner) landmarkPlan(start []int) (path []int) {
	if p.sole >= 0 {
		return nil
	}
	found, ok := p.landmarks(start, p.goal, -1)
	if !ok {
		return nil
	}
	least := p.minLength(found)
	needs := make([][]int, len(found))
	for k := 1; k < len(found); k++ {
		needs[found[k].parent] = append(needs[found[k].parent], k)
	}
	state := start
	p.round++ // mark the calls on the path
	var reach func(k int) bool
	reach = func(k int) bool {
		for _, before := range needs[k] {
			if !reach(before) {
				return false
			}
		}
		if slices.ContainsFunc(found[k].calls, func(c int) bool { return p.marked[c] == p.round }) {
			return true
		}
		at := slices.IndexFunc(found[k].calls, func(c int) bool { return p.blocker(state, c) < 0 })
		if at < 0 {
			return false
		}
		c := found[k].calls[at]
		p.marked[c] = p.round
		path, state = append(path, c), p.stateAfter(state, c)
		return len(path) <= least
	}
	if !reach(0) || len(path) != least || !slices.Contains(p.goal, path[least-1]) {
		return nil
	}
	return path
}
