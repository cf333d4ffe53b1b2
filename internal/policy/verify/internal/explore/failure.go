package explore

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
			return Answer{Result: Refuted, Moves: ms}
		default:
			doubt = WhyDoubtful
		}
	}
	if doubt != "" {
		return Answer{Why: doubt}
	}
	return Answer{Result: Proved}
}
