package explore

import (
	"slices"

	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// A net with a key is explored as it is for one value, see [callclass.Datum]. Calls of
// another value leave it alone, and are taken to be let pass by it. So what never
// happens in the model never happens for any value. A run may be one that the gate
// does not admit: it has to be played.

// Keyed reports whether some net that is enforced has a key.
func (m *Model) Keyed() bool {
	return slices.ContainsFunc(m.Nets, func(n *Net) bool { return n.Keyed() && !n.Info.Shadow })
}

// OneValue is the model in which calls have no other value than the one that is looked at.
func (m *Model) OneValue() *Model {
	one := &Model{Nets: m.Nets, Calls: m.Calls, Limit: m.Limit, Stop: m.Stop, off: slices.Clone(m.off), single: true}
	for _, s := range m.Classes {
		if !s.Another() {
			one.Classes = append(one.Classes, s)
		}
	}
	one.index()
	return one
}

// fresh reports whether all states are good in which no call has had the value that is
// looked at. Then calls with a new value get there from any state.
func (s *Space) fresh(good []bool) bool {
	var keyed []int
	unused := make(map[int]map[int]bool)
	for pos, n := range s.nets {
		if n.Keyed() {
			keyed, unused[pos] = append(keyed, pos), n.unused()
		}
	}
	if len(keyed) == 0 {
		return false
	}
	for k := range s.At {
		words := s.state(int32(k))
		used := slices.ContainsFunc(keyed, func(pos int) bool { return !unused[pos][int(words[1+pos])] }) ||
			slices.ContainsFunc(s.opens(int32(k)), func(id uint32) bool {
				return slices.ContainsFunc(s.types.List[id].holds, func(h callclass.Effect) bool {
					hold := &s.nets[h.Net].held.List[h.Meaning]
					return unused[h.Net] != nil && len(hold.flights)+len(hold.watches) > 0
				})
			})
		if !used && !good[k] {
			return false
		}
	}
	return true
}

// unused are the states of the net for a value that no call has had: calls without a
// value can have spoiled it, and time can have passed.
func (n *Net) unused() map[int]bool {
	states, queue := make(map[int]bool), []int{0}
	visit := func(s int) {
		if !states[s] {
			states[s] = true
			queue = append(queue, s)
		}
	}
	states[0] = true
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		visit(n.unspoiled(s))
		for e, m := range n.Meanings.List {
			if !slices.ContainsFunc(m, func(a callclass.Ask) bool { return !n.anyValue(a) }) {
				visit(n.begin(s, e).next)
			}
		}
	}
	return states
}

// anyValue reports whether the name is one of calls without a value, or of time.
func (n *Net) anyValue(a callclass.Ask) bool {
	return !slices.ContainsFunc(a.Transitions, func(t int) bool { return !slices.Contains(n.timed, t) })
}
