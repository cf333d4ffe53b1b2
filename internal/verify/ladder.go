package verify

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
)

// A ladder is a proof without exploration that calls are always possible. On
// its lowest rung stand those that no net can refuse. A call stands on the next
// one if, in each net that can refuse it, calls of lower rungs lead from every
// state to one in which the net lets it pass, and these calls, with all that
// they need themselves, move no other net that can refuse it: then the nets can
// be made ready one after the other.
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
			if l.ok[i] || s.doubtful || len(s.shut) > 0 {
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
	for _, t := range strict {
		helpers := m.helpers(l, t.net, strict)
		if len(helpers) == 0 || !m.nets[t.net].recovers(t.effect, m.effectsOf(helpers, t.net)) {
			return nil, false
		}
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

// helpers are the shapes of the ladder that touch the net, are made ready
// without it, and leave the other strict nets alone.
func (m *model) helpers(l *ladder, net int, strict []touch) []int {
	var out []int
	for _, h := range m.byNet[net] {
		if !l.ok[h] || l.prep[h][net] {
			continue
		}
		disturbs := slices.ContainsFunc(strict, func(t touch) bool {
			return t.net != net && (l.prep[h][t.net] || m.shapes[h].concerns(t.net))
		})
		if !disturbs {
			out = append(out, h)
		}
	}
	return out
}

func (s *shape) concerns(net int) bool {
	return slices.ContainsFunc(s.touches, func(t touch) bool { return t.net == net })
}

func (m *model) effectsOf(shapes []int, net int) []int {
	var out []int
	for _, i := range shapes {
		for _, t := range m.shapes[i].touches {
			if t.net == net {
				out = append(out, t.effect)
			}
		}
	}
	return out
}

// maxLocals is how many states of one net are looked at for a ladder.
const maxLocals = 200

// recovers reports whether successful calls of the helpers lead from every
// state that the net by itself can get into to one that lets e pass.
func (n *net) recovers(e int, helpers []int) bool {
	locals, ok := n.alone()
	if !ok {
		return false
	}
	good := make(map[int]bool)
	for again := true; again; {
		again = false
		for _, s := range locals {
			if good[s] {
				continue
			}
			if n.begin(s, e).verdict != blocks || slices.ContainsFunc(helpers, func(h int) bool {
				return n.begin(s, h).verdict != blocks && good[n.success(s, h)]
			}) {
				good[s], again = true, true
			}
		}
	}
	return len(good) == len(locals)
}

// alone are the states of the net over all calls and outcomes, whatever other
// nets forbid. ok is false where there are many, or tokens can be in flight.
func (n *net) alone() (locals []int, ok bool) {
	if n.wild {
		return nil, false
	}
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
