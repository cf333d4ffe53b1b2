package explore

import "github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"

// A Goal describes calls that should always be reachable.
type Goal struct {
	Matches func(*callclass.Class) bool             // reports whether calls of the class meet the goal, at least in some states
	ok      func(s *Space, k int32, class int) bool // reports whether a call of the class meets the goal in state k
	values  bool                                    // whether calls with untracked key values can also meet the goal; ok returns false for such calls
	one     bool                                    // whether only calls with the tracked value meet the goal
	excused func(s *Space, k int32) bool            // reports whether a run may stop in state k without reaching the goal; may be nil
}

// TaggedGoal returns the goal of reaching a call tagged as [Wanted]. The function match must select
// the classes of these calls. If single is true, all of these calls must have the tracked value.
func TaggedGoal(match func(*callclass.Class) bool, single bool) *Goal {
	return &Goal{Matches: match, one: single, ok: func(s *Space, _ int32, c int) bool { return s.classes[c].tag&Wanted != 0 }}
}

// Escapes reports, for each state, whether successful calls can lead from it to a call that meets
// the goal, or to a state where the goal allows a run to stop. New calls must belong to an allowed
// class, but calls in flight can belong to any class.
func (s *Space) Escapes(g *Goal, allowed func(class int) bool) []bool {
	good := make([]bool, len(s.At))
	var queue []int32
	for k := range s.At {
		good[k] = g.excused != nil && g.excused(s, int32(k))
		for c := 0; c < len(s.classes) && !good[k]; c++ {
			good[k] = allowed(c) && !s.classes[c].member.Waits && s.admits(int32(k), c) && g.ok(s, int32(k), c)
		}
		if good[k] {
			queue = append(queue, int32(k))
		}
	}
	back := s.successPredecessors(allowed)
	for k := 0; k < len(queue); k++ {
		for _, from := range back[queue[k]] {
			if !good[from] {
				good[from] = true
				queue = append(queue, from)
			}
		}
	}
	return good
}

// successPredecessors returns, for each state, the states that lead to it when a call succeeds.
// Either a call in flight succeeds, or a new call of an allowed class begins and succeeds
// immediately.
func (s *Space) successPredecessors(allowed func(class int) bool) [][]int32 {
	back := make([][]int32, len(s.At))
	for _, e := range s.edges {
		switch {
		case e.by.kind == succeeds:
			back[e.to] = append(back[e.to], e.from)
		case e.by.kind == starts && allowed(int(e.by.arg)):
			if to, ok := s.afterSuccess(e.from, e.by.arg); ok {
				back[to] = append(back[to], e.from)
			}
		}
	}
	return back
}

// afterSuccess returns the state that results if a call of class c begins and succeeds in state k
// while all earlier calls stay in flight. ok is false if the search did not visit that state.
func (s *Space) afterSuccess(k int32, c uint32) (to int32, ok bool) {
	to, ok = s.index[string(appendWords(nil, s.stateAfter(k, c)))]
	return to, ok
}

// Unhindered reports whether calls of the class are known to be possible and no net outside the
// view can refuse them. It always returns false if the view was made without [ViewOptions].Beyond.
func (v *view) Unhindered(class int) bool {
	c := &v.classes[class]
	return c.sure && len(c.beyond) == 0
}

// isCertain reports whether calls of the class are known to be possible unless a net blocks them.
func (v *view) isCertain(class int) bool { return !uncertain(v.classes[class].member) }

// rebuildPaths computes a new path from the start to each state. The paths do not contain calls
// that avoid selects. A state that no such path reaches has no predecessor.
func (s *Space) rebuildPaths(avoid func(*callclass.Class) bool) {
	next := make([][]int, len(s.At))
	for i, e := range s.edges {
		if e.by.kind != starts || !avoid(s.classes[e.by.arg].member) {
			next[e.from] = append(next[e.from], i)
		}
	}
	for k := range s.from {
		s.from[k] = -1
	}
	for queue := []int32{0}; len(queue) > 0; queue = queue[1:] {
		for _, i := range next[queue[0]] {
			if e := s.edges[i]; e.to != 0 && s.from[e.to] < 0 {
				s.from[e.to], s.by[e.to] = e.from, e.by
				queue = append(queue, e.to)
			}
		}
	}
}

// BlockingNets looks for a call that would help to reach the goal if the nets outside the view did
// not refuse it. The call starts in a state where good is false, and it meets the goal or leads to
// a state where good is true. BlockingNets returns the smallest set of nets that might refuse such
// a call. If it finds no such call, it returns nil.
func (s *Space) BlockingNets(g *Goal, good []bool) []int {
	var least []int
	for i := range good {
		for c := range s.classes {
			beyond := s.classes[c].beyond
			if k := int32(i); good[i] || len(beyond) == 0 || least != nil && len(beyond) >= len(least) || !s.admits(k, c) {
				continue
			}
			to, made := s.afterSuccess(int32(i), uint32(c))
			if made && good[to] || !s.classes[c].member.Waits && g.ok(s, int32(i), c) {
				least = beyond
			}
		}
	}
	return least
}
