package explore

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
)

// FailureLock looks for a call in flight whose failure, or unknown outcome, leads to a
// state from which no successful continuation reaches the goal, where its success leads
// to one from which some does. The space has the counters as they are written.
func (s *Space) FailureLock(g *Goal) Answer {
	sure, possible := s.Escapes(g, s.surely), s.Escapes(g, func(int) bool { return true })
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
	doubt := ""
	for _, e := range s.edges {
		at := ending{e.from, e.by.arg}
		if e.by.kind != fails && e.by.kind != unknown || !mayWin[at] || sure[e.to] {
			continue
		}
		ms, ok := s.moves(append(s.path(e.from), e.by))
		switch {
		case !ok:
			doubt = WhyNoRun
		case wins[at] && !possible[e.to] && UnsureOf(ms) == nil:
			return Answer{Result: Refuted, Moves: s.bereft(ms, e)}
		default:
			doubt = WhyDoubtful
		}
	}
	if doubt != "" {
		return Answer{Why: doubt}
	}
	return Answer{Result: Proved}
}

// bereft is the moves along the edge with one more before the last for each call in
// flight that the state stands for without having it: the call fails, since as long as
// it is under way it may succeed.
func (s *Space) bereft(ms []Move, e edge) []Move {
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
		if at := slices.IndexFunc(known, func(id uint32) bool { return s.is(c, id) }); at >= 0 {
			known = slices.Delete(known, at, at+1)
			continue
		}
		ms = append(ms, Move{Call: i, End: gate.Failure})
		r.end(c, gate.Failure)
	}
	return append(ms, last)
}
