package verify

import (
	"fmt"
	"slices"
)

// An advisory net blocks, except where it yields: while a recovery net overrules it,
// or where it would leave no tool. The searches take it to block always. A run
// that they find is real, since no net blocks a call of it. That there is none is
// proved only where it is so without the advisory nets too.

// yielding names an advisory net among the nets, as the reason why nothing is
// known; empty where there is none.
func (m *model) yielding(nets []int) string {
	for _, n := range nets {
		if m.nets[n].info.Advisory {
			return fmt.Sprintf("the advisory net %s does not block where it yields", m.nets[n].info.Name)
		}
	}
	return ""
}

// required are those of the nets that are not advisory.
func (m *model) required(nets []int) []int {
	return slices.DeleteFunc(slices.Clone(nets), func(n int) bool { return m.nets[n].info.Advisory })
}

// unadvised proves again what the nets forbid, without what advisory ones block.
// about are the nets that the query began with.
func (m *model) unadvised(q *query, about, nets []int, o viewOptions) found {
	why := m.yielding(nets)
	switch {
	case why == "":
		return found{result: Proved, nets: nets}
	case q.state != nil && m.yielding(about) != "": // the query is about the states of an advisory net
		if len(nets) == len(about) {
			return found{result: Proved, nets: nets} // a call that it blocks does not move it, made or not
		}
		return found{result: Unknown, why: why}
	}
	o.required = true
	if f := m.neverOf(q, m.required(nets), o); f.result == Proved {
		return f
	}
	return found{result: Unknown, why: why}
}

// yieldingAround is yielding for the nets that share calls, directly or through
// others, with a call that likes wants.
func (m *model) yieldingAround(likes func(*shape) bool) string {
	if !slices.ContainsFunc(m.nets, func(n *net) bool { return n.info.Advisory }) {
		return ""
	}
	kinds, _ := m.kinds(nil, func(s *shape) uint8 {
		if likes(s) {
			return wanted
		}
		return 0
	})
	var nets []int
	for _, s := range slices.Concat(m.shapes, kinds) {
		if likes(s) {
			nets = append(nets, s.nets()...)
		}
	}
	return m.yielding(m.around(nets))
}
