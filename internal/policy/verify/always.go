package verify

import "slices"

// A goal is calls of which it is asked whether they can always be reached.
type goal struct {
	likes   func(*shape) bool                       // as far as a shape tells it
	ok      func(s *space, k int32, class int) bool // a call of the class is one in the state
	excused func(s *space, k int32) bool            // in such a state it is right to stop; nil: nowhere
}

// always proves that the goal can be reached from everywhere: by the states of
// all nets around, where they are few, and otherwise by as few nets as show it,
// of which some are given to begin with.
func (m *model) always(around, few []int, g goal) Proof {
	if why := m.yielding(around); why != "" {
		return Proof{Why: why}
	}
	m.climb() // so that it is known what calls can mean to nets
	if m.gap(around, nil) == "" && m.whole(around, viewOptions{tag: anyCall, limit: min(m.limit, m.small)}) != nil {
		p, _ := m.alwaysBy(around, g)
		return p
	}
	for nets := few; ; {
		p, more := m.alwaysBy(nets, g)
		if len(more) == 0 {
			return p
		}
		nets = append(slices.Clone(nets), more...)
		slices.Sort(nets)
	}
}

// alwaysBy is what some nets say of the goal: it can always be reached by calls
// that no other net ever refuses, or a run which all nets admit leads to where
// these nets forbid it. Where it is neither, more are nets that matter too.
func (m *model) alwaysBy(nets []int, g goal) (p Proof, more []int) {
	tag := func(s *shape) uint8 {
		if !s.waits && g.likes(s) {
			return wanted
		}
		return 0
	}
	if why := m.gap(nets, tag); why != "" {
		return Proof{Why: why}, nil
	}
	o := viewOptions{tag: tag, limit: m.limit, beyond: true}
	s := m.whole(nets, o)
	if s == nil {
		return Proof{Why: m.spent()}, nil
	}
	good := s.escapes(g.in(s), g.excuses(s), s.unhindered)
	if !slices.Contains(good, false) {
		return Proof{Result: Proved}, nil
	}
	more = s.hindering(g, good)
	d := m.lock(s, g.in(s), g.excuses(s), g.likes)
	if d.Why == whyLong {
		if s = m.exact(nets, o); s == nil {
			return Proof{Why: m.spent()}, nil
		}
		d = m.lock(s, g.in(s), g.excuses(s), g.likes)
	}
	if d.Result == Refuted {
		_, stopped := m.replay(d.moves)
		switch {
		case stopped < 0:
			return Proof{Result: Refuted, Counterexample: d.Trace, Because: d.Because}, nil
		case slices.Contains(nets, stopped):
			return Proof{Why: whyNoRun}, nil
		}
		return Proof{}, []int{stopped}
	}
	if d.Result == Proved {
		d.Why = whyDoubtful
	}
	return Proof{Why: d.Why, Supposed: d.supposed}, more
}

func (g *goal) in(s *space) func(int32, int) bool {
	return func(k int32, c int) bool { return g.ok(s, k, c) }
}

func (g *goal) excuses(s *space) func(int32) bool {
	if g.excused == nil {
		return nil
	}
	return func(k int32) bool { return g.excused(s, k) }
}

// unhindered reports whether it is known of some call of the class that it can be
// made, and that no net beyond the view ever refuses it.
func (v *view) unhindered(class int) bool {
	c := &v.classes[class]
	return c.sure && len(c.beyond) == 0
}

// hindering are nets beyond the view without which it would be known of one more
// state that the goal can be reached from it: as few as there are.
func (s *space) hindering(g goal, good []bool) []int {
	var least []int
	for i := range good {
		for c := range s.classes {
			beyond := s.classes[c].beyond
			if k := int32(i); good[i] || len(beyond) == 0 || least != nil && len(beyond) >= len(least) || !s.admits(k, c) {
				continue
			}
			to, made := s.atOnce(int32(i), uint32(c))
			if made && good[to] || !s.classes[c].shape.waits && g.ok(s, int32(i), c) {
				least = beyond
			}
		}
	}
	return least
}
