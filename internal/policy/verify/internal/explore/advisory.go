package explore

import (
	"fmt"
	"slices"
)

// An advisory net blocks, except where it yields: while a recovery net overrules it,
// or where it would leave no tool. The searches take it to block always. A run
// that they find is real, since no net blocks a call of it. That there is none is
// proved only where it is so without the advisory nets too.

// Yielding names an advisory net among the nets, as the reason why nothing is
// known; empty where there is none.
func (m *Model) Yielding(nets []int) string {
	for _, n := range nets {
		if m.Nets[n].Info.Advisory {
			return fmt.Sprintf("the advisory net %s does not block where it yields", m.Nets[n].Info.Name)
		}
	}
	return ""
}

// unadvised proves again what the nets forbid, without what advisory ones block.
// about are the nets that the query began with.
func (m *Model) unadvised(q *Query, about, nets []int, o ViewOptions) Answer {
	why := m.Yielding(nets)
	switch {
	case why == "":
		return Answer{Result: Proved, Nets: nets}
	case q.state != nil && m.Yielding(about) != "": // the query is about the states of an advisory net
		if len(nets) == len(about) {
			return Answer{Result: Proved, Nets: nets} // a call that it blocks does not move it, made or not
		}
		return Answer{Why: why}
	}
	o.required = true
	required := slices.DeleteFunc(slices.Clone(nets), func(n int) bool { return m.Nets[n].Info.Advisory })
	if f := m.neverOf(q, required, o); f.Result == Proved {
		return f
	}
	return Answer{Why: why}
}
