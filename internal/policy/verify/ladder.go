package verify

import (
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/gate"
)

// A ladder is a proof without exploration that calls are always possible. On
// its lowest rung stand those that no net can refuse. A call stands on the next
// one if, in the nets that can refuse it, calls of lower rungs lead from every
// state to one in which they let it pass. The nets that the same calls move are
// made ready together, one such set after the other; what these calls need
// themselves moves none of them.
type ladder struct {
	ok   []bool         // by shape
	prep []map[int]bool // nets that are moved before the call
}

// climb makes the ladder of the model.
func (m *model) climb() *ladder {
	if m.ladder != nil {
		return m.ladder
	}
	l := &ladder{ok: make([]bool, len(m.shapes)), prep: make([]map[int]bool, len(m.shapes))}
	m.ladder = l
	for i, n := range m.nets { // what all calls of open tools mean to it
		_, gap := m.kinds([]int{i}, nil)
		n.wild = gap != ""
	}
	for again := true; again; {
		again = false
		for i, s := range m.shapes {
			if l.ok[i] || s.waits || s.unsure() || len(s.shut) > 0 {
				continue
			}
			if m.stop() {
				return l // what stands on it so far does
			}
			if prep, ok := m.rung(l, s); ok {
				l.ok[i], l.prep[i] = true, prep
				again = true
			}
		}
	}
	return l
}

// rung reports whether the shape can stand on what there is of the ladder.
func (m *model) rung(l *ladder, s *shape) (prep map[int]bool, ok bool) {
	var strict []touch // nets that can refuse it
	for _, t := range s.touches {
		if !m.nets[t.net].lenient(t.effect) {
			strict = append(strict, t)
		}
	}
	prep = make(map[int]bool)
	for len(strict) > 0 {
		together, helpers, rest := m.together(l, strict)
		if len(helpers) == 0 || !m.recover(together, helpers) {
			return nil, false
		}
		strict = rest
		for _, h := range helpers {
			for n := range l.prep[h] {
				prep[n] = true
			}
			for _, ht := range m.shapes[h].touches {
				prep[ht.net] = true
			}
		}
	}
	return prep, true
}

// together are the first strict net and those that its helpers move too, with
// all their helpers: shapes of the ladder that are made ready without any
// strict net. Of the rest they leave all alone.
func (m *model) together(l *ladder, strict []touch) (nets []touch, helpers []int, rest []touch) {
	nets, rest = strict[:1:1], slices.Clone(strict[1:])
	for k := 0; k < len(nets); k++ {
		for _, h := range m.byNet[nets[k].net] {
			if !l.ok[h] && !m.shapes[h].waits || slices.Contains(helpers, h) || slices.ContainsFunc(strict, func(t touch) bool { return l.prep[h][t.net] }) {
				continue
			}
			helpers = append(helpers, h)
			rest = slices.DeleteFunc(rest, func(t touch) bool {
				if !m.shapes[h].concerns(t.net) {
					return false
				}
				nets = append(nets, t)
				return true
			})
		}
	}
	return nets, helpers, rest
}

func (s *shape) concerns(net int) bool {
	return slices.ContainsFunc(s.touches, func(t touch) bool { return t.net == net })
}

// Bounds of what is looked at for a ladder: states of one net, and of some together.
const (
	maxLocals = 200
	maxJoint  = 2000
)

// recover reports whether successful calls of the helpers lead from every state
// that the nets by themselves can get into to one in which each lets its effect
// pass.
func (m *model) recover(nets []touch, helpers []int) bool {
	joint := [][]int{nil}
	for _, t := range nets {
		locals, ok := m.nets[t.net].alone()
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
			if key := fmt.Sprint(state); !good[key] && m.leads(nets, helpers, state, good) {
				good[key], again = true, true
			}
		}
	}
	return len(good) == len(joint)
}

// leads reports whether the nets let their effects pass, or a helper leads to a
// state that is known to be good.
func (m *model) leads(nets []touch, helpers []int, state []int, good map[string]bool) bool {
	if !slices.ContainsFunc(nets, func(t touch) bool {
		return m.nets[t.net].begin(state[slices.Index(nets, t)], t.effect).verdict == blocks
	}) {
		return true
	}
	return slices.ContainsFunc(helpers, func(h int) bool {
		next := slices.Clone(state)
		for i, t := range nets {
			e := m.shapes[h].effectIn(t.net)
			if e < 0 {
				continue
			}
			if m.nets[t.net].begin(state[i], e).verdict == blocks {
				return false
			}
			next[i] = m.nets[t.net].success(state[i], e)
		}
		return good[fmt.Sprint(next)]
	})
}

// alone are the states of the net over all calls and outcomes, whatever other
// nets forbid. ok is false where there are many, or tokens can be in flight.
func (n *net) alone() (locals []int, ok bool) {
	if n.wild {
		return nil, false
	}
	if n.apart.effects != len(n.known.list) {
		n.apart.locals, n.apart.ok = n.byItself()
		n.apart.effects = len(n.known.list)
	}
	return n.apart.locals, n.apart.ok
}

func (n *net) byItself() (locals []int, ok bool) {
	for t := range n.trans {
		def := &n.info.Transitions[t]
		if def.Deferred && !def.Observe || len(n.free) > 0 && !n.settles() {
			return nil, false
		}
	}
	locals, holds := []int{0}, []int{}
	seen := map[int]bool{0: true}
	visit := func(s int) {
		if !seen[s] {
			seen[s] = true
			locals = append(locals, s)
		}
	}
	for before := -1; before != len(locals)+len(holds); {
		before = len(locals) + len(holds)
		for k := 0; k < len(locals); k++ {
			for e := range n.known.list {
				b := n.begin(locals[k], e)
				if visit(b.next); b.hold > 0 && !slices.Contains(holds, b.hold) {
					holds = append(holds, b.hold)
				}
			}
			for _, h := range holds {
				visit(n.end(locals[k], h, gate.Success).next)
			}
			if len(locals) > maxLocals {
				return nil, false
			}
		}
	}
	return locals, true
}
