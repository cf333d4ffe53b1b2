package mining

import (
	"cmp"
	"math"
	"slices"

	"github.com/petrigate/petrigate/internal/list"
)

// An invalidatorVisitor is a [visitor] that excludes each [invalidator] that the log refutes, and
// collects evidence for the others.
type invalidatorVisitor struct{ byA, byB, byC map[int][]*invalidator }

func newInvalidatorVisitor(all []*invalidator) *invalidatorVisitor {
	return &invalidatorVisitor{
		byA: groupBy(all, func(s *invalidator) int { return s.a }),
		byB: groupBy(all, func(s *invalidator) int { return s.b }),
		byC: groupBy(all, func(s *invalidator) int { return s.c }),
	}
}

func (v *invalidatorVisitor) admit(s *session, a *action) {
	for _, n := range a.names {
		for _, of := range v.byC[n.tool] {
			if state := s.invalidatorState(of); !of.out && state.ok > 0 {
				state.between++
			}
		}
		for _, of := range v.byB[n.tool] {
			if !of.out {
				of.check(s)
			}
		}
	}
}

// check is called for each call to B. It marks the rule as refuted if a call to C is still in
// flight, or has ended since the last successful call to A began. Otherwise, it adds the events
// since the previous call to B to the evidence.
func (of *invalidator) check(s *session) {
	state := s.invalidatorState(of)
	c := s.tools[of.c]
	if c != nil && (c.pending > 0 || c.lastEnd >= s.tool(of.a).freshOK) {
		of.out = true
		return
	}
	if state.between > 0 {
		// chance that, after the first A, the last event is another A and not C
		of.chance += chance(math.Log(float64(state.ok-1)) - math.Log(float64(state.ok-1+state.between)))
		of.calls++
		if !state.counted {
			of.sessions++
		}
		state.counted = true
	}
	state.ok, state.between = 0, 0
}

func (v *invalidatorVisitor) succeed(s *session, a *action) {
	for _, n := range a.names {
		for _, of := range v.byA[n.tool] {
			if n.certain && !of.out {
				s.invalidatorState(of).ok++
			}
		}
	}
}

func (v *invalidatorVisitor) end(*session) {}

// supportedInvalidators returns the invalidators that the log supports, keyed by pair, most
// significant first.
func supportedInvalidators(all []*invalidator, least, tried int) map[pair][]*invalidator {
	held := list.Filter(all, func(s *invalidator) bool { return !s.out && s.sessions >= least && s.chance.beats(tried) })
	by := groupBy(held, func(s *invalidator) pair { return s.pair })
	for _, of := range by {
		slices.SortFunc(of, func(x, y *invalidator) int { return cmp.Or(cmp.Compare(x.chance, y.chance), x.c-y.c) })
	}
	return by
}

// invalidators returns the invalidators to test: each pair whose order held for every call to B,
// combined with each tool that could be C. The result more reports whether the limit was reached.
func (v *survey) invalidators(held map[pair]bool, tried, least int) (all []*invalidator, more bool) {
	for p := range held {
		s := v.pairs[p]
		if s.notEach || !(s.each - s.once).beats(tried) {
			continue
		}
		for c, t := range v.tools {
			if c == p.a || c == p.b || t.sessions < least || v.joined(c, p) {
				continue
			}
			if len(all) == maxInvalidators {
				return all, true
			}
			all = append(all, &invalidator{pair: p, c: c})
		}
	}
	return all, false
}

// joined reports whether any single call had both the name C and the name A or B.
func (v *survey) joined(c int, p pair) bool {
	return stateOf(v.pairs, pair{c, p.a}).shared || stateOf(v.pairs, pair{c, p.b}).shared
}
