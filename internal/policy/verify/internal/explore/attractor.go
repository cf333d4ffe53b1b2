package explore

import (
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// An attractor is a proof without exploration that calls are always possible. In
// its first layer are the calls that no net can refuse. A call is in the next
// layer if, in the nets that can refuse it, calls of lower layers lead from every
// state to one in which they let it pass. The nets that the same calls move are
// made ready together, one such set after the other; what these calls need
// themselves moves none of them.
type attractor struct {
	model *Model
	Ok    []bool         // by class
	prep  []map[int]bool // nets that are moved before the call
}

// Attract computes the attractor of the model, layer by layer.
func (m *Model) Attract() *attractor {
	if m.attractor != nil {
		return m.attractor
	}
	a := &attractor{model: m, Ok: make([]bool, len(m.Classes)), prep: make([]map[int]bool, len(m.Classes))}
	m.attractor = a
	for i, n := range m.Nets { // what all calls of open tools mean to it
		_, gap := m.Calls.Kinds([]int{i}, nil)
		n.incomplete = gap != ""
	}
	for again := true; again; {
		again = false
		for i, s := range m.Classes {
			if a.Ok[i] || s.Waits || uncertain(s) || len(s.Shut) > 0 || !s.Speaks(callclass.Values{}) {
				continue
			}
			if m.Stop() {
				return a // what is in it so far stays
			}
			if prep, ok := a.layer(s); ok {
				a.Ok[i], a.prep[i] = true, prep
				again = true
			}
		}
	}
	return a
}

// layer reports whether the layers so far make the class possible.
func (a *attractor) layer(s *callclass.Class) (prep map[int]bool, ok bool) {
	m := a.model
	var strict []callclass.Effect // nets that can refuse it
	for _, t := range s.Effects {
		if !m.Nets[t.Net].lenient(t.Meaning) {
			strict = append(strict, t)
		}
	}
	prep = make(map[int]bool)
	for len(strict) > 0 {
		together, helpers, rest := a.together(strict)
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

// together are the first strict net and those that its helpers move too, with
// all their helpers: classes of the attractor that are made ready without any
// strict net. Of the rest they leave all alone.
func (a *attractor) together(strict []callclass.Effect) (nets []callclass.Effect, helpers []int, rest []callclass.Effect) {
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

// Bounds of what is looked at for an attractor: states of one net, and of some together.
const (
	maxLocals = 200
	maxJoint  = 2000
)

// recover reports whether successful calls of the helpers lead from every state
// that the nets by themselves can get into to one in which each lets its effect
// pass.
func (a *attractor) recover(nets []callclass.Effect, helpers []int) bool {
	joint := [][]int{nil}
	for _, t := range nets {
		locals, ok := a.model.Nets[t.Net].unspoiledAlone()
		if !ok || len(joint)*len(locals) > maxJoint {
			return false
		}
		var longer [][]int
		for _, state := range joint {
			for _, l := range locals {
				longer = append(longer, append(slices.Clone(state), l))
			}
		}
		joint = longer
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

// leads reports whether the nets let their effects pass, or a helper leads to a
// state that is known to be good.
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

// Endless reports whether some call that the group gates is plainly always possible.
func (a *attractor) Endless(nets []int) bool {
	m := a.model
	for _, n := range nets {
		if slices.ContainsFunc(m.byNet[n], func(i int) bool { return a.Ok[i] && !m.Classes[i].Waits && m.gated(m.Classes[i]) }) {
			return true
		}
	}
	return false
}
