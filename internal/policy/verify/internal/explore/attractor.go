package explore

import (
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// Attractor returns the attractor of m: the classes of calls that are always possible. It is computed
// layer by layer on first use. If the search is stopped, the attractor consists of the layers found
// so far.
func (m *Model) Attractor() *attractor {
	if m.attractor != nil {
		return m.attractor
	}
	a := &attractor{model: m, Ok: make([]bool, len(m.Classes)), prep: make([]map[int]bool, len(m.Classes))}
	m.attractor = a
	for i, n := range m.Nets { // calls that were not enumerated in advance might have unknown effects on the net
		_, gap := m.Calls.Kinds([]int{i}, nil)
		n.incomplete = gap != ""
	}
	for again := true; again; {
		again = false
		for i, s := range m.Classes {
			if a.Ok[i] || s.Waits || uncertain(s) || len(s.BlockedBy) > 0 || !s.HasValues(callclass.Values{}) {
				continue
			}
			if m.Stop() {
				return a // the attractor is incomplete, but the classes in it are correct
			}
			if prep, ok := a.inNextLayer(s); ok {
				a.Ok[i], a.prep[i] = true, prep
				again = true
			}
		}
	}
	return a
}

// inNextLayer reports whether class s is known to belong to the next layer of the attractor. This
// is so if, from every state, calls of the existing layers and the passage of time lead to a state
// that admits calls of class s. prep holds the nets whose states might change on the way.
func (a *attractor) inNextLayer(s *callclass.Class) (prep map[int]bool, ok bool) {
	m := a.model
	strict := list.Filter(s.Effects, func(t callclass.Effect) bool { return !m.Nets[t.Net].neverBlocks(t.Meaning) }) // the nets that can refuse the class
	prep = make(map[int]bool)
	for len(strict) > 0 {
		together, helpers, rest := a.connectedNets(strict)
		if len(helpers) == 0 || !a.recover(together, helpers) {
			return nil, false
		}
		strict = rest
		for _, h := range helpers {
			for n := range a.prep[h] {
				prep[n] = true
			}
			for _, ht := range m.Classes[h].Effects {
				prep[ht.Net] = true
			}
		}
	}
	return prep, true
}

// connectedNets splits strict, the nets that can refuse a call. It returns the nets that must be
// examined together with the first one, and the remaining nets. Two nets are connected if the same
// helper affects both. A helper is the passage of time or a call that is always possible. Its
// preparation must not change a net in strict. connectedNets also returns the helpers of the
// connected nets.
func (a *attractor) connectedNets(strict []callclass.Effect) (nets []callclass.Effect, helpers []int, rest []callclass.Effect) {
	m := a.model
	nets, rest = strict[:1:1], slices.Clone(strict[1:])
	for k := 0; k < len(nets); k++ {
		for _, h := range m.byNet[nets[k].Net] {
			if !a.Ok[h] && !m.Classes[h].Waits || slices.Contains(helpers, h) || slices.ContainsFunc(strict, func(t callclass.Effect) bool { return a.prep[h][t.Net] }) {
				continue
			}
			helpers = append(helpers, h)
			rest = slices.DeleteFunc(rest, func(t callclass.Effect) bool {
				if !m.Classes[h].Concerns(t.Net) {
					return false
				}
				nets = append(nets, t)
				return true
			})
		}
	}
	return nets, helpers, rest
}

// recover reports whether, from every state that the nets can reach on their own, successful calls
// of the helpers lead to a state where each of the nets admits the call that is being prepared.
func (a *attractor) recover(nets []callclass.Effect, helpers []int) bool {
	joint := [][]int{nil}
	for _, t := range nets {
		locals, ok := a.model.Nets[t.Net].unspoiledAlone()
		if !ok || len(joint)*len(locals) > maxJoint {
			return false
		}
		joint = list.FlatMap(joint, func(state []int) [][]int {
			return list.Map(locals, func(l int) []int { return append(slices.Clone(state), l) })
		})
	}
	good := make(map[string]bool)
	for again := true; again; {
		again = false
		for _, state := range joint {
			if key := fmt.Sprint(state); !good[key] && a.leads(nets, helpers, state, good) {
				good[key], again = true, true
			}
		}
	}
	return len(good) == len(joint)
}

// leads reports whether all nets admit the call that is being prepared, or one successful call of a
// helper leads to a state recorded in good.
func (a *attractor) leads(nets []callclass.Effect, helpers []int, state []int, good map[string]bool) bool {
	m := a.model
	if !slices.ContainsFunc(nets, func(t callclass.Effect) bool {
		return m.Nets[t.Net].begin(state[slices.Index(nets, t)], t.Meaning).verdict == blocks
	}) {
		return true
	}
	return slices.ContainsFunc(helpers, func(h int) bool {
		next := slices.Clone(state)
		for i, t := range nets {
			e := m.Classes[h].MeaningIn(t.Net)
			if e < 0 {
				continue
			}
			if m.Nets[t.Net].begin(state[i], e).verdict == blocks {
				return false
			}
			next[i] = m.Nets[t.Net].success(state[i], e)
		}
		return good[fmt.Sprint(next)]
	})
}

// Endless reports whether the attractor contains a call that affects one of the nets and that some
// transition lists. Such a call can always be reached, so the nets never deadlock.
func (a *attractor) Endless(nets []int) bool {
	m := a.model
	endless := func(i int) bool { return a.Ok[i] && !m.Classes[i].Waits && m.isGated(m.Classes[i]) }
	return slices.ContainsFunc(nets, func(n int) bool { return slices.ContainsFunc(m.byNet[n], endless) })
}
