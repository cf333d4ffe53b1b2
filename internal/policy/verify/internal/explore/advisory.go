package explore

import (
	"fmt"
	"slices"
)

// An advisory net blocks calls, except where it yields: while a recovery net overrules it, or where
// blocking would leave no tool. The searches assume that it always blocks. A run that they find is
// real, since no net blocks any call of it. A proof that no run exists counts only if it also holds
// without the advisory nets.

// Yielding returns the reason why an answer is unknown if one of the nets is advisory, and the
// empty string otherwise.
func (m *Model) Yielding(nets []int) string {
	for _, n := range nets {
		if m.Nets[n].Info.Advisory {
			return fmt.Sprintf("the advisory net %s does not block where it yields", m.Nets[n].Info.Name)
		}
	}
	return ""
}

// unadvised repeats the proof that the nets forbid the query, without what advisory nets block. The
// argument about holds the nets that the query started with.
func (m *Model) unadvised(q *Query, about, nets []int, o ViewOptions) Answer {
	why := m.Yielding(nets)
	switch {
	case why == "":
		return Answer{Result: Proved, Nets: nets}
	case q.state != nil && m.Yielding(about) != "": // the query asks about the states of an advisory net
		if len(nets) == len(about) {
			return Answer{Result: Proved, Nets: nets} // a call that the net blocks does not change its state, whether or not the call is made
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
