package explore

import (
	"slices"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// A net with a key has a separate state for each value of the key. The model tracks only one value;
// see [callclass.Datum]. It assumes that the net admits calls with other values and that these
// calls do not affect the net's state. Whatever never happens in the model therefore never happens
// for any value. The gate might not admit a run found in the model, so such a run must be replayed.

// Keyed reports whether some enforced net has a key.
func (m *Model) Keyed() bool {
	return slices.ContainsFunc(m.Nets, func(n *Net) bool { return n.Keyed() && !n.Info.Shadow })
}

// OneValue returns the model restricted to one value of the nets' keys, the tracked value. It is
// computed only once.
func (m *Model) OneValue() *Model {
	if m.one == nil {
		m.one = &Model{system: system{Nets: m.Nets}, Calls: m.Calls, searchLimits: searchLimits{Stop: m.Stop}, full: m}
		m.one.Classes = list.Filter(m.Classes, func(s *callclass.Class) bool { return !s.HasOther() })
		m.one.index()
	}
	m.one.Limit, m.one.off = m.Limit, m.off
	return m.one
}

// Assured reports, for each state, whether successful calls of allowed classes can certainly reach
// the goal.
//
// A map entry can match one key value but not another. Assured therefore runs one search for each
// value used in the classes, and every search must reach the goal. If the goal is not only about
// the tracked value, one search that reaches it from all states is enough.
func (s *Space) Assured(g *Goal, allowed func(class int) bool) []bool {
	var all []bool
	for _, v := range s.valuesOf(allowed) {
		taken := make([]bool, len(s.classes))
		for i := range taken {
			c := s.classes[i].member
			taken[i] = allowed(i) && (c.HasValues(v) || !g.one && c.Takes(v))
		}
		good := s.assured(g, func(class int) bool { return taken[class] })
		if all == nil || !g.one && !slices.Contains(good, false) {
			all = good
			continue
		}
		if !g.one && !slices.Contains(all, false) {
			break
		}
		for k := range all {
			all[k] = all[k] && good[k]
		}
	}
	return all
}

// valuesOf returns the distinct values used in the allowed classes. The first element is the zero
// Values, for classes that use no value.
func (s *Space) valuesOf(allowed func(class int) bool) []callclass.Values {
	all := []callclass.Values{{}}
	for i := range s.classes {
		c := s.classes[i].member
		if allowed(i) && !slices.ContainsFunc(all, c.HasValues) {
			all = append(all, c.Values())
		}
	}
	return all
}

// assured is like [Space.Assured], but assumes that calls of all allowed classes can have the same
// values.
func (s *Space) assured(g *Goal, allowed func(class int) bool) []bool {
	good := s.Escapes(g, allowed)
	if g.one || !slices.Contains(good, false) || !slices.ContainsFunc(s.nets, (*Net).Keyed) {
		return good
	}
	fresh := s.assuredFresh(s.Escapes(g, func(class int) bool { return allowed(class) && s.classes[class].member.Free() }))
	either := *g
	either.excused = func(_ *Space, k int32) bool { return good[k] || fresh[k] }
	return s.Escapes(&either, allowed)
}

// assuredFresh reports, for each state, whether calls with a new key value can reach the goal. good
// reports the same for calls with the tracked value. A new value behaves like the tracked value
// before any call has used it. For each state, assuredFresh therefore looks at the states where the
// tracked value is unused and the nets without a key have the same local states. It reports true if
// such states exist and good is true for all of them.
func (s *Space) assuredFresh(good []bool) []bool {
	unused := make([]map[int]bool, len(s.nets)) // for each net with a key, its possible states for an unused value; nil for other nets
	for pos, n := range s.nets {
		if n.Keyed() {
			unused[pos] = n.unusedStates()
		}
	}
	keys := make([]string, len(s.At))
	all := make(map[string]bool) // whether good is true for all states where no call has used the tracked value; keyed by the local states of the nets without a key
	for k := range s.At {
		words := s.state(int32(k))[1 : 1+len(s.nets)]
		var key []byte
		for pos, local := range words {
			if unused[pos] == nil {
				key = callclass.AppendKey(key, []int{int(local)})
			}
		}
		keys[k] = string(key)
		if !s.used(int32(k), unused) {
			before, known := all[keys[k]]
			all[keys[k]] = good[k] && (before || !known)
		}
	}
	fresh := make([]bool, len(s.At))
	for k, key := range keys {
		fresh[k] = all[key]
	}
	return fresh
}

// used reports whether some call before state k has used the tracked value.
func (s *Space) used(k int32, unused []map[int]bool) bool {
	for pos, local := range s.state(k)[1 : 1+len(s.nets)] {
		if unused[pos] != nil && !unused[pos][int(local)] {
			return true
		}
	}
	return slices.ContainsFunc(s.opens(k), func(id uint32) bool {
		return slices.ContainsFunc(s.types.List[id].holds, func(h callclass.Effect) bool {
			hold := &s.nets[h.Net].held.List[h.Meaning]
			return unused[h.Net] != nil && len(hold.flights)+len(hold.watches) > 0
		})
	})
}

// unusedStates returns the states that n can have for a value that no call has used yet. Only time
// and calls without a value can lead to such states.
func (n *Net) unusedStates() map[int]bool {
	states, queue := make(map[int]bool), []int(nil)
	visit := func(s int) {
		if !states[s] {
			states[s] = true
			queue = append(queue, s)
		}
	}
	visit(0)
	for k := 0; k < len(queue); k++ {
		visit(n.unspoil(queue[k]))
		for e, m := range n.Meanings.List {
			if !slices.ContainsFunc(m, func(a callclass.Ask) bool { return !n.anyValue(a) }) {
				visit(n.begin(queue[k], e).next)
			}
		}
	}
	return states
}

// anyValue reports whether effect a can occur without the tracked key value. It can if every
// transition in a is fired by the clock, or does not fire because the call lacks the tracked value.
func (n *structure) anyValue(a callclass.Ask) bool {
	return !slices.ContainsFunc(a.Transitions, func(t int) bool { return !slices.Contains(n.timed, t) && !slices.Contains(a.Idle, t) })
}
