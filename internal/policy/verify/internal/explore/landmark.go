package explore

import (
	"slices"

	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// A scope is calls, and the nets that they have an effect on.
type scope struct {
	nets  []*Net
	calls [][]callclass.Effect // by call: net, effect
	users [][]callclass.Effect // by net: call, effect
	fails bool                 // a call that begins may have any outcome; otherwise it succeeds

	marked, opened []int // calls and nets that were looked at in this round
	round          int
	relaxed        *relaxation // made when it is needed
}

func newScope(nets []*Net, calls [][]callclass.Effect) *scope {
	g := &scope{nets: nets, calls: calls, users: make([][]callclass.Effect, len(nets))}
	for c, effects := range calls {
		for _, t := range effects {
			g.users[t.Net] = append(g.users[t.Net], callclass.Effect{Net: c, Meaning: t.Meaning})
		}
	}
	g.marked, g.opened = make([]int, len(calls)), make([]int, len(nets))
	return g
}

// A landmark is a set of calls one of which every run to the goal has.
type landmark struct {
	calls  []int
	nets   []int // that made it one: they block all calls of the landmark it is there for
	parent int   // that landmark, -1
}

// landmarks are those of the runs from a state to a call of the goal. Where all
// calls of a landmark are blocked by a net, a call is needed before that moves
// this net. What is needed by the last landmark, and cannot be had, is no
// landmark any more: then nothing leads to the goal and ok is false.
//
// The goal does not mind the net sole.
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
				openers = g.open(openers, state[n], n)
			}
			found = append(found, landmark{openers, nets, k})
			if len(openers) == 0 {
				return found, false
			}
		}
	}
	return found, true
}

// barriers are sets of nets each of which has to move before any of the calls
// is admitted: single ones that block all calls, or one for each call. There
// are none where a call is not blocked.
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
	var out [][]int
	for _, n := range common {
		out = append(out, []int{n})
	}
	if len(out) == 0 && fresh {
		out = append(out, each)
	}
	return out
}

// open adds the calls that move a net out of its local state.
func (g *scope) open(calls []int, local, n int) []int {
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

// count is how many calls a run has at least that has one of each landmark.
func (g *scope) count(found []landmark) int {
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

// wholeScope is that of all classes.
func (m *Model) wholeScope() *scope {
	if m.all == nil {
		calls := make([][]callclass.Effect, len(m.Classes))
		for i, s := range m.Classes {
			calls[i] = s.Effects
		}
		m.all = newScope(m.Nets, calls)
		m.all.fails = true
	}
	return m.all
}

// seed is the nets that a run to the goal of the query meets, as far as that is
// plain. Where no run leads there they are nets that forbid it, and barred is
// true: over all outcomes and interleavings.
func (m *Model) seed(q *Query) (nets []int, barred bool) {
	goal := q.goal(m.Classes)
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

// goal is those of the classes that the query wants.
func (q *Query) goal(classes []*callclass.Class) (goal []int) {
	for i, s := range classes {
		if q.Tag(s)&Wanted != 0 {
			goal = append(goal, i)
		}
	}
	return goal
}

// Barred says that the query is never met, where that is plain.
func (m *Model) Barred(q *Query) Answer {
	nets, barred := m.seed(q)
	if !barred {
		nets, barred = m.wholeScope().relax().blockers(q.goal(m.Classes))
	}
	if !barred || m.Calls.Gap(nets, q.Tag) != "" || m.Yielding(nets) != "" || !m.view(nets, ViewOptions{Tag: q.Tag}).barred() {
		return Answer{} // a call of an open tool may do what no listed one does
	}
	return Answer{Result: Proved, Nets: nets}
}

// barred reports whether the nets plainly forbid what the query wants, over all
// outcomes and interleavings.
func (v *view) barred() bool {
	g, goal := v.scopeOf(), v.wanted()
	if g.fails = true; len(goal) == 0 {
		return false
	}
	if _, ok := g.landmarks(make([]int, len(v.nets)), goal, -1); !ok {
		return true
	}
	_, barred := g.relax().blockers(goal)
	return barred
}

// wanted are the classes that the query wants.
func (v *view) wanted() []int {
	var out []int
	for c := range v.classes {
		if v.classes[c].tag&Wanted != 0 {
			out = append(out, c)
		}
	}
	return out
}

// scopeOf is that of the classes of the view.
func (v *view) scopeOf() *scope {
	calls := make([][]callclass.Effect, len(v.classes))
	for i := range v.classes {
		calls[i] = v.classes[i].effects
	}
	return newScope(v.nets, calls)
}
