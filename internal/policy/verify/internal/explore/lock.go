package explore

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// FindDeadlock looks for a state that permanently forbids all calls that the nets gate.
func (s *Space) FindDeadlock() Answer {
	if why := s.model.Calls.Gap(s.netIndexes(), nil); why != "" {
		return Answer{Why: why}
	}
	gated := s.model.isGated
	return s.FindLock(&Goal{Matches: gated, ok: func(s *Space, _ int32, c int) bool { return gated(s.classes[c].member) }, values: slices.ContainsFunc(s.nets, (*Net).Keyed)})
}

// isGated reports whether some net has a transition that lists calls of class s.
func (sys *system) isGated(s *callclass.Class) bool {
	return slices.ContainsFunc(s.Effects, func(t callclass.Effect) bool { return sys.Nets[t.Net].lists(t.Meaning) })
}

// FindLock looks for a state where no sequence of successful calls can reach the goal anymore. It
// ignores states where the goal allows a run to stop.
func (s *Space) FindLock(g *Goal) Answer {
	good := s.Assured(g, s.isCertain)
	if !slices.Contains(good, false) {
		return Answer{Result: Proved}
	}
	unsure := s.leastSure()
	if unsure != nil || len(s.valuesOf(s.isCertain)) > 1 || slices.ContainsFunc(s.classes, func(c class) bool { return uncertain(c.member) }) {
		good = s.Escapes(g, func(int) bool { return true })
	}
	k := s.badState(good, unsure != nil)
	if g.values || k < 0 && unsure == nil {
		return Answer{Why: WhyValues}
	}
	if k < 0 {
		return s.model.unsureAnswer(unsure, "it depends on whether there is a tool ")
	}
	ms, made := s.moves(s.path(k))
	if !made {
		return Answer{Why: WhyNoRun}
	}
	ms = s.failSurplus(ms, k)
	nets, sure := s.lockingNets(ms, g.Matches)
	if ms, made = s.realize(ms, nets, g.Matches); !made {
		return Answer{Why: WhyLong}
	}
	if mayReturn(ms) {
		return Answer{Why: WhyValues}
	}
	if s.model.full != nil {
		if why := s.model.full.proveLost(ms, g, nets); why != "" {
			return Answer{Why: why}
		}
	}
	return Answer{Result: Refuted, Moves: Tidy(ms, nil), Nets: nets, Rough: !sure}
}

// badState returns the index k of a reachable state with good[k] false, or -1 if no such state
// exists. It prefers a state that calls with a single key value can reach. If required is true, it
// considers only paths whose calls are all known to be possible. Afterward, s.path returns the path
// to the state.
func (s *Space) badState(good []bool, required bool) int32 {
	if slices.ContainsFunc(s.nets, (*Net).Keyed) {
		s.rebuildPaths(func(c *callclass.Class) bool { return c.Unsure() || c.HasOther() })
		if k := s.lockState(good); k >= 0 {
			return k
		}
		s.rebuildPaths(func(c *callclass.Class) bool { return required && c.Unsure() })
	} else if required {
		s.rebuildPaths((*callclass.Class).Unsure)
	}
	return s.lockState(good)
}

// lockState returns a state k with good[k] false that has a path from the start, or -1 if no such
// state exists. It prefers a state without calls in flight.
func (s *Space) lockState(good []bool) int32 {
	found := int32(-1)
	for i := range good {
		k := int32(i)
		if good[i] || k > 0 && s.from[k] < 0 {
			continue
		}
		if len(s.opens(k)) == 0 {
			return k
		}
		if found < 0 {
			found = k
		}
	}
	return found
}

// leastSure returns a class whose calls might not be possible. It prefers a class without known
// arguments, and returns nil if all calls are known to be possible.
func (s *Space) leastSure() *callclass.Class {
	return UnsureOf(list.Map(s.classes, func(c class) Move { return Move{Class: c.member} }))
}

// failSurplus extends the run ms so that it ends in state k. The run may have more calls in flight
// than k lists, because a state lists only a few of many identical calls without tokens in flight;
// see [maxAlike]. failSurplus makes the surplus calls fail.
func (s *Space) failSurplus(ms []Move, k int32) []Move {
	r := s.newRun()
	r.play(ms)
	left := slices.Clone(s.opens(k))
	ms = slices.Clone(ms)
	for i, c := range r.calls {
		if len(c.holds) == 0 {
			continue
		}
		at := slices.IndexFunc(left, func(id uint32) bool { return s.isOfType(c, id) })
		if at < 0 {
			ms = append(ms, Move{Call: i, End: gate.Failure})
		} else if !s.types.List[left[at]].many {
			left = slices.Delete(left, at, at+1)
		}
	}
	return ms
}

// realize extends the run ms to a run with unreduced counters (see [Net.cap]). ms was found with
// reduced counters. All nets must admit the new run, and the given nets must then forbid every
// later call selected by match. The second result reports whether realize succeeded.
func (s *Space) realize(ms []Move, nets []int, match func(*callclass.Class) bool) ([]Move, bool) {
	if len(s.limits) == 0 {
		return ms, true
	}
	m, calls := s.model, s.callsOf(match)
	holds := func(ms []Move) bool {
		return m.admitsRun(ms) && m.checkLock(m.Nets, calls, ms, nets, match) == Proved
	}
	if holds(ms) {
		return ms, true
	}
	longer, ok := s.extendTo(ms, holds)
	if short := mergeRepeats(longer); ok && holds(short) {
		return short, true
	}
	return longer, ok
}

// lockingNets returns a set of nets that forbid every call selected by match after the run ms. sure
// reports whether all of these nets are known to be needed.
func (s *Space) lockingNets(ms []Move, match func(*callclass.Class) bool) (nets []int, sure bool) {
	calls := s.callsOf(match)
	return leaveOut(s.netIndexes(), func(fewer []int) Result { return s.model.checkLock(s.newRun().nets, calls, ms, fewer, match) })
}

// netIndexes returns, for each net of the view, its index in the model.
func (v *view) netIndexes() []int { return list.Map(v.nets, func(n *Net) int { return n.Index }) }

// checkLock tries to prove that the given nets alone forbid every call selected by match after the
// run ms, even if other successful calls are made first.
func (m *Model) checkLock(all []*Net, calls []*callclass.Class, ms []Move, nets []int, match func(*callclass.Class) bool) Result {
	r := m.runIn(list.Map(nets, func(n int) *Net { return all[n] }))
	if r.play(ms); r.long {
		return Unknown
	}
	asked := -askEvery
	over := func(visited int) bool { return visited == m.Limit || m.mustStop(&asked, visited) }
	found, complete := m.extend(r, match, over, func(*run) []*callclass.Class { return calls })
	switch {
	case !complete:
		return Unknown
	case found != nil:
		return Refuted
	}
	return Proved
}

// callsOf returns the classes of calls that affect at least one net of the view. The function match
// selects either all calls of a class or none.
func (v *view) callsOf(match func(*callclass.Class) bool) []*callclass.Class {
	classes, _ := v.model.ClassesFor(v.netIndexes(), Tagger(match))
	return list.Filter(classes, func(s *callclass.Class) bool {
		return slices.ContainsFunc(s.Effects, func(t callclass.Effect) bool { return v.at[t.Net] >= 0 })
	})
}

// FindNetLock looks for a single net that can permanently forbid every call that the nets gate. An
// example is an exhausted limit.
func (m *Model) FindNetLock(nets []int) Answer {
	tag := Tagger(func(s *callclass.Class) bool {
		return !s.Waits && m.isGated(s) && slices.ContainsFunc(nets, s.Concerns)
	})
	if slices.ContainsFunc(nets, func(n int) bool { return m.Nets[n].Keyed() }) {
		return Answer{} // in the model, a net with a key forbids only calls with the tracked value
	}
	for _, n := range nets {
		if m.Calls.Gap([]int{n}, tag) != "" {
			continue
		}
		w := m.Whole([]int{n}, ViewOptions{Tag: tag, Limit: min(m.Limit, GroupLimit)})
		if w == nil {
			continue
		}
		d := w.FindLock(TaggedGoal(m.isGated, false))
		if d.Result == Refuted && d.Moves != nil && m.admitsRun(d.Moves) {
			return d
		}
	}
	return Answer{}
}

// admitsRun reports whether all nets admit the run ms.
func (sys *system) admitsRun(ms []Move) bool {
	_, stopped := sys.Replay(ms)
	return stopped < 0
}

// Callless reports whether the nets gate no calls. Timed transitions do not count as calls.
func (m *Model) Callless(nets []int) bool {
	calls := m.view(nets, ViewOptions{}).callsOf(anyClass)
	return !slices.ContainsFunc(calls, func(s *callclass.Class) bool { return !s.Waits && m.isGated(s) })
}

// mayReturn reports whether a call in flight after the run ms could still return the tracked value.
// The run assumes that such a call returns another value.
func mayReturn(ms []Move) bool {
	open := make(map[int]*callclass.Class)
	for _, mv := range ms {
		if delete(open, mv.Call); mv.Class != nil {
			open[mv.Call] = mv.Class
		}
	}
	for _, c := range open {
		if c.ReturnsOther() {
			return true
		}
	}
	return false
}
