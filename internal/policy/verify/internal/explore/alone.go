package explore

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
)

// neverBlocks reports whether a simple check shows that n never blocks calls with effect e. The
// check succeeds if n only observes or exempts the calls, or if n admits them in every state that
// it can reach on its own; see [Net.reachableAlone]. In addition, n's structural transitions, which
// fire without a call, must stop firing. Otherwise, n could block every call.
func (n *Net) neverBlocks(e int) bool {
	for _, a := range n.Meanings.List[e] {
		if len(a.Barred) == 0 && !a.Refused && (a.Free || n.Observed(a.Transitions)) {
			continue
		}
		if !n.alwaysAdmits(e) {
			return false
		}
	}
	return len(n.free) == 0 || n.static || n.quiesces()
}

// alwaysAdmits reports whether n admits calls with effect e in every state.
func (n *Net) alwaysAdmits(e int) bool {
	if n.static {
		return n.begin(0, e).verdict != blocks
	}
	locals, ok := n.reachableAlone()
	return ok && !slices.ContainsFunc(locals, func(l int) bool { return n.begin(l, e).verdict == blocks })
}

// quiesces reports whether a simple check shows that n's structural transitions, which fire without
// a call, fire only finitely often when n starts, and that calls never enable them again. It
// ignores timed transitions. A net whose structural transitions fire forever would block every
// call.
func (n *Net) quiesces() bool {
	for _, t := range n.free {
		for _, a := range n.Trans[t].In {
			for u := range n.Trans {
				if len(n.Info.Transitions[u].Tools) > 0 && weight(n.Trans[u].Out, a.Place) > weight(n.Trans[u].In, a.Place) {
					return false
				}
			}
		}
	}
	return !n.locals.List[0].stuck
}

// reachableAlone returns the states that n would reach, over all calls and outcomes, if no other
// net refused any call. ok is false in four cases: there are too many states, calls can keep tokens
// in flight, calls can make structural transitions fire, or some effects of calls on n are unknown.
func (n *Net) reachableAlone() (locals []int, ok bool) {
	if n.incomplete {
		return nil, false
	}
	if n.aloneCache.effects != len(n.Meanings.List) {
		n.aloneCache.locals, n.aloneCache.ok = n.exploreAlone()
		n.aloneCache.effects = len(n.Meanings.List)
	}
	return n.aloneCache.locals, n.aloneCache.ok
}

// unspoiledAlone is like [Net.reachableAlone], but omits states where a call in flight prevents
// other calls from counting toward requirements (see [gate.Transition.Spoils]). The call in flight
// can always succeed before the next call begins. Such a state therefore never prevents a call from
// being always possible (see [attractor]).
func (n *Net) unspoiledAlone() (locals []int, ok bool) {
	locals, ok = n.reachableAlone()
	return slices.DeleteFunc(slices.Clone(locals), func(l int) bool { return n.locals.List[l].spoiled }), ok
}

func (n *Net) exploreAlone() (locals []int, ok bool) {
	for t := range n.Trans {
		def := &n.Info.Transitions[t]
		if def.Deferred && !def.Observe || len(n.free) > 0 && !n.quiesces() {
			return nil, false
		}
	}
	locals, holds := []int{0}, []int{}
	seen := map[int]bool{0: true}
	visit := func(s int) {
		for _, s := range []int{s, n.unspoil(s)} {
			if !seen[s] {
				seen[s] = true
				locals = append(locals, s)
			}
		}
	}
	for before := -1; before != len(locals)+len(holds); {
		before = len(locals) + len(holds)
		for k := 0; k < len(locals); k++ {
			for e := range n.Meanings.List {
				b := n.begin(locals[k], e)
				if visit(b.next); b.hold > 0 && !slices.Contains(holds, b.hold) {
					holds = append(holds, b.hold)
				}
			}
			for _, h := range holds {
				visit(n.end(locals[k], h, gate.Success).next)
			}
			if len(locals) > maxLocals {
				return nil, false
			}
		}
	}
	return locals, true
}

// Limits on the number of states to examine when looking for calls that are always possible (see
// [attractor]). maxLocals applies to a single net, and maxJoint to several nets together.
const (
	maxLocals = 200
	maxJoint  = 2000
)
