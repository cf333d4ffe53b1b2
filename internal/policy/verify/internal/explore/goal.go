package explore

import "github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"

// A Goal describes calls that should always be reachable.
type Goal struct {
	Matches func(*callclass.Class) bool             // which classes the goal wants, as far as the class alone decides it
	ok      func(s *Space, k int32, class int) bool // whether a call of the class meets the goal in the state
	values  bool                                    // calls with other values than the tracked one meet the goal too
	one     bool                                    // only calls with the tracked value meet the goal
	excused func(s *Space, k int32) bool            // states where a run may stop without reaching the goal; nil: none
}

// TaggedGoal returns the goal that is met by calls which the view has tagged as wanted; match must
// select the same calls.
func TaggedGoal(match func(*callclass.Class) bool) *Goal {
	return &Goal{Matches: match, ok: func(s *Space, _ int32, c int) bool { return s.classes[c].tag&Wanted != 0 }}
}

// GoalOfOne returns a [TaggedGoal] about the tracked value only: match selects no calls with other
// values.
func GoalOfOne(match func(*callclass.Class) bool) *Goal {
	g := TaggedGoal(match)
	g.one = true
	return g
}

// Escapes reports, for each state, whether a successful continuation of classes selected by may
// reaches a state where the goal admits a call. Excused states count as good.
func (s *Space) Escapes(g *Goal, may func(class int) bool) []bool {
	good := make([]bool, len(s.At))
	var queue []int32
	for k := range s.At {
		if g.excused != nil && g.excused(s, int32(k)) {
			good[k] = true
			queue = append(queue, int32(k))
			continue
		}
		for c := range s.classes {
			if may(c) && !s.classes[c].member.Waits && s.admits(int32(k), c) && g.ok(s, int32(k), c) {
				good[k] = true
				queue = append(queue, int32(k))
				break
			}
		}
	}
	back := s.successful(may)
	for len(queue) > 0 {
		k := queue[0]
		queue = queue[1:]
		for _, from := range back[k] {
			if !good[from] {
				good[from] = true
				queue = append(queue, from)
			}
		}
	}
	return good
}

// successful returns the reversed edges of all steps in which a call succeeds: one that is in
// flight, or one that begins and succeeds at once.
func (s *Space) successful(may func(class int) bool) [][]int32 {
	back := make([][]int32, len(s.At))
	for _, e := range s.edges {
		switch {
		case e.by.kind == succeeds:
			back[e.to] = append(back[e.to], e.from)
		case e.by.kind == starts && may(int(e.by.arg)):
			if to, ok := s.atOnce(e.from, e.by.arg); ok {
				back[to] = append(back[to], e.from)
			}
		}
	}
	return back
}

// atOnce returns the state after a call of the class has begun and succeeded while all calls in
// flight before stay in flight. ok is false if that state was not visited. Where one observing call
// stands for any number of calls, the call that has ended must not be kept.
func (s *Space) atOnce(k int32, c uint32) (to int32, ok bool) {
	to, ok = s.index[string(appendWords(nil, s.succeeded(k, c)))]
	return to, ok
}

// Unhindered reports whether it is known that some call of the class can be made and that no net
// outside the view ever refuses it.
func (v *view) Unhindered(class int) bool {
	c := &v.classes[class]
	return c.sure && len(c.beyond) == 0
}

// surely reports whether it is known that a call of the class can be made and that only the nets
// that judge it can refuse it.
func (v *view) surely(class int) bool { return !uncertain(v.classes[class].member) }

// rebuildPaths discards how states are reached and computes it anew without the calls to avoid.
// States that cannot be reached without them have no predecessor afterwards.
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

// Hindering returns a smallest set of nets outside the view whose removal would make the goal
// reachable from one more state; nil if no set helps.
func (s *Space) Hindering(g *Goal, good []bool) []int {
	var least []int
	for i := range good {
		for c := range s.classes {
			beyond := s.classes[c].beyond
			if k := int32(i); good[i] || len(beyond) == 0 || least != nil && len(beyond) >= len(least) || !s.admits(k, c) {
				continue
			}
			to, made := s.atOnce(int32(i), uint32(c))
			if made && good[to] || !s.classes[c].member.Waits && g.ok(s, int32(i), c) {
				least = beyond
			}
		}
	}
	return least
}
