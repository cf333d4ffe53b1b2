package mining

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/petrigate/petrigate/internal/list"
)

// An invalidatorVisitor is a [visitor] that tests rules of type [invalidator]. It marks the rules
// that the log refutes, and collects statistics about the others.
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

// check is called for each call to B. The log refutes the rule if a call to C is in flight. The log
// also refutes the rule if a call to C has ended and no successful call to A has begun since then.
// check marks a refuted rule, and updates the statistics of any other.
func (of *invalidator) check(s *session) {
	state := s.invalidatorState(of)
	c := s.tools[of.c]
	if c != nil && (c.pending > 0 || c.lastEnd >= s.tool(of.a).freshOK) {
		of.out = true
		return
	}
	if state.between > 0 {
		// chance that, in a random order of the events after the first A, the last event is another
		// A and not a C
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

// supportedInvalidators returns the rules that the log supports, grouped by their tools A and B.
// Each group is sorted by significance, most significant first.
func supportedInvalidators(all []*invalidator, least, tried int) map[pair][]*invalidator {
	held := list.Filter(all, func(s *invalidator) bool { return !s.out && s.sessions >= least && s.chance.beats(tried) })
	by := groupBy(held, func(s *invalidator) pair { return s.pair })
	for _, of := range by {
		slices.SortFunc(of, func(x, y *invalidator) int { return cmp.Or(cmp.Compare(x.chance, y.chance), x.c-y.c) })
	}
	return by
}

// invalidators returns the rules to test. Each rule combines one of the given pairs of tools, A and
// B, with another tool C. In the log, every call to B must have had its own earlier success of A,
// and not just by chance. more reports whether rules are missing because there are too many.
func (v *survey) invalidators(held map[pair]bool, tried, least int) (all []*invalidator, more bool) {
	inOrder := func(p, q pair) int { return cmp.Or(p.a-q.a, p.b-q.b) }
	for _, p := range slices.SortedFunc(maps.Keys(held), inOrder) { // sorted, so that the same rules are left out each time if there are too many
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

// joined reports whether any call had both the name C and one of the names A and B.
func (v *survey) joined(c int, p pair) bool {
	return stateOf(v.pairs, pair{c, p.a}).shared || stateOf(v.pairs, pair{c, p.b}).shared
}
