package mining

import (
	"cmp"
	"math"
	"slices"
)

// mostSpoilers bounds the calls that may take a success away.
const mostSpoilers = 5000

// spoiler is a call C after which A came anew before B.
type spoiler struct {
	pair
	c        int
	out      bool // a B came without
	sessions int  // in which C came behind an A
	calls    int  // of B, with a C behind an A before it
	chance   chance
}

// spoilState is what a session did with a spoiler since the last B.
type spoilState struct {
	ok, between int // successes of A, and calls of C behind the first of them
	counted     bool
}

// spoilers are the calls that may take the success of A away, for the pairs that held for each call of B.
// More says that there are more.
func (v *survey) spoilers(held map[pair]bool, tried, least int) (all []*spoiler, more bool) {
	for p := range held {
		s := v.pairs[p]
		if s.notEach || !(s.each - s.once).beats(tried) {
			continue
		}
		for c, t := range v.tools {
			if c == p.a || c == p.b || t.sessions < least || v.joined(c, p) {
				continue
			}
			if len(all) == mostSpoilers {
				return all, true
			}
			all = append(all, &spoiler{pair: p, c: c})
		}
	}
	return all, false
}

// joined reports whether a call has the name of C and another one of the rule.
func (v *survey) joined(c int, p pair) bool {
	for _, n := range []int{p.a, p.b} {
		if s := v.pairs[pair{c, n}]; s != nil && s.shared {
			return true
		}
	}
	return false
}

// spoiling is a visitor: after which calls A came anew before B.
type spoiling struct{ byA, byB, byC map[int][]*spoiler }

func newSpoiling(all []*spoiler) *spoiling {
	v := &spoiling{map[int][]*spoiler{}, map[int][]*spoiler{}, map[int][]*spoiler{}}
	for _, s := range all {
		v.byA[s.a] = append(v.byA[s.a], s)
		v.byB[s.b] = append(v.byB[s.b], s)
		v.byC[s.c] = append(v.byC[s.c], s)
	}
	return v
}

func (s *session) spoil(of *spoiler) *spoilState {
	state := s.spoils[of]
	if state == nil {
		state = &spoilState{}
		s.spoils[of] = state
	}
	return state
}

func (v *spoiling) admit(s *session, a *action) {
	for _, n := range a.names {
		for _, of := range v.byC[n.tool] {
			if state := s.spoil(of); !of.out && state.ok > 0 {
				state.between++
			}
		}
		for _, of := range v.byB[n.tool] {
			if !of.out {
				of.hold(s)
			}
		}
	}
}

// hold holds a call of B against what came since the one before it.
func (of *spoiler) hold(s *session) {
	state := s.spoil(of)
	c := s.tools[of.c]
	if c != nil && (c.under > 0 || c.lastEnd >= s.tool(of.a).freshOK) {
		of.out = true
		return
	}
	if state.between > 0 {
		// Behind the first A, the last of the others is an A.
		of.chance += chance(math.Log(float64(state.ok-1)) - math.Log(float64(state.ok-1+state.between)))
		of.calls++
		if !state.counted {
			of.sessions++
		}
		state.counted = true
	}
	state.ok, state.between = 0, 0
}

func (v *spoiling) succeed(s *session, a *action) {
	for _, n := range a.names {
		for _, of := range v.byA[n.tool] {
			if n.certain && !of.out {
				s.spoil(of).ok++
			}
		}
	}
}

func (v *spoiling) end(*session) {}

// spoiled are the calls that take away the success of A for B, by what the record supports.
func spoiled(all []*spoiler, least, tried int) map[pair][]*spoiler {
	by := map[pair][]*spoiler{}
	for _, s := range all {
		if !s.out && s.sessions >= least && s.chance.beats(tried) {
			by[s.pair] = append(by[s.pair], s)
		}
	}
	for _, of := range by {
		slices.SortFunc(of, func(x, y *spoiler) int { return cmp.Or(cmp.Compare(x.chance, y.chance), x.c-y.c) })
	}
	return by
}
