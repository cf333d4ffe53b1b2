package explore

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// FindFailureLock looks for a call that makes the goal unreachable if it fails or ends with an
// unknown outcome. If the call succeeds, the goal must still be reachable. The counters of the
// space must not be reduced; see [Net.cap].
func (s *Space) FindFailureLock(g *Goal) Answer {
	found, open := s.failureLocks(g)
	if len(found) == 0 && !open {
		return Answer{Result: Proved}
	}
	unsure := s.leastSure()
	for _, avoid := range []func(*callclass.Class) bool{
		func(c *callclass.Class) bool { return c.Unsure() || c.HasOther() }, (*callclass.Class).Unsure,
	} {
		s.rebuildPaths(avoid)
		for _, e := range found {
			if e.from > 0 && s.from[e.from] < 0 {
				continue
			}
			ms, made := s.moves(append(s.path(e.from), e.by))
			if !made {
				continue
			}
			if ms = s.failRest(ms, e); mayReturn(ms) {
				continue // a call in flight after the run could still return the tracked value
			}
			if s.model.full != nil {
				nets, _ := s.lockingNets(ms, g.Matches)
				if why := s.model.full.proveLost(ms, g, nets); why != "" {
					return Answer{Why: why}
				}
			}
			return Answer{Result: Refuted, Moves: ms}
		}
	}
	switch {
	case unsure != nil:
		return s.model.unsureAnswer(unsure, "it depends on whether there is a tool ")
	case len(found) > 0:
		return Answer{Why: WhyNoRun}
	}
	return Answer{Why: WhyValues}
}

// failureLocks returns the steps where the failure or unknown outcome of a call makes the goal
// unreachable. The goal must remain reachable if the call succeeds. The second result is true if
// some step could not be decided.
func (s *Space) failureLocks(g *Goal) (found []edge, open bool) {
	sure, possible := s.Assured(g, s.isCertain), s.Escapes(g, func(int) bool { return true })
	type ending struct {
		from int32
		call uint32
	}
	wins, mayWin := make(map[ending]bool), make(map[ending]bool)
	for _, e := range s.edges {
		if e.by.kind == succeeds {
			at := ending{e.from, e.by.arg}
			wins[at], mayWin[at] = wins[at] || sure[e.to], mayWin[at] || possible[e.to]
		}
	}
	for _, e := range s.edges {
		at := ending{e.from, e.by.arg}
		switch {
		case e.by.kind != fails && e.by.kind != unknown || !mayWin[at] || sure[e.to]:
		case wins[at] && !possible[e.to]:
			found = append(found, e)
		default:
			open = true
		}
	}
	return found, open
}

// failRest adds failures to the run ms before its last move, which takes edge e. The run can have
// more calls in flight than the state at the start of e. These calls must fail, because they could
// still succeed otherwise.
func (s *Space) failRest(ms []Move, e edge) []Move {
	last := ms[len(ms)-1]
	ms = slices.Clone(ms[:len(ms)-1])
	r := s.newRun()
	r.play(ms)
	known := slices.Clone(s.opens(e.from))
	at := slices.Index(known, e.by.arg)
	known = slices.Delete(known, at, at+1)
	for i, c := range r.calls {
		if i == last.Call || len(c.holds) == 0 {
			continue
		}
		if at := slices.IndexFunc(known, func(id uint32) bool { return s.isOfType(c, id) }); at >= 0 {
			known = slices.Delete(known, at, at+1)
			continue
		}
		ms = append(ms, Move{Call: i, End: gate.Failure})
		r.end(c, gate.Failure)
	}
	return append(ms, last)
}
