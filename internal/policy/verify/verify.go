package verify

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
)

// Policy says what can and what cannot happen under a policy. Where the time is
// short, assertions have it before all else.
func Policy(p *gate.Policy, o Options) *Report {
	m := newModel(p, &o)
	r := &Report{Proofs: m.proofs(o.Prove)}
	r.Overlaps = m.overlaps(p.Maps())
	for _, t := range m.listed {
		n := m.callable(t)
		n.Shortest, _ = m.accepted(n.Shortest)
		n.Failing, _ = m.accepted(n.Failing)
		r.Names = append(r.Names, n)
	}
	for _, g := range m.groups() {
		group := m.group(g)
		r.States += group.States
		r.Groups = append(r.Groups, group)
	}
	r.Redundant = m.allRedundant()
	r.Visited = m.states
	for _, g := range m.gaps {
		r.Gaps = append(r.Gaps, g.text)
	}
	for _, text := range m.shaper.overflows {
		if !slices.Contains(r.Gaps, text) {
			r.Gaps = append(r.Gaps, text)
		}
	}
	return r
}

// carrying is the tag of calls that have the name.
func carrying(t gate.Tool) func(*shape) uint8 {
	return func(s *shape) uint8 {
		if s.carries(t, false) {
			return wanted
		}
		return 0
	}
}

// admits looks for a call that has the name.
func admits(t gate.Tool) *query { return &query{tag: carrying(t), sole: -1} }

// callable says whether a call that has the name can be admitted.
func (m *model) callable(t gate.Tool) Name {
	name := Name{Tool: t}
	if m.stop() {
		name.Why = m.spent()
		return name
	}
	q := admits(t)
	kinds, gap := m.kinds(nil, q.tag)
	if !slices.ContainsFunc(slices.Concat(m.shapes, kinds), func(s *shape) bool { return s.carries(t, false) }) {
		if name.Why = gap; gap != "" {
			return name
		}
		return m.nameless(name)
	}
	if f := m.barred(q); f.result == Proved {
		name.Callable, name.Because = Impossible, m.named(m.minimal(q, f.nets))
		return name
	}
	plan := m.plan(q.tag, true)
	if plan.result == Refuted {
		name.Callable, name.Shortest = Possible, m.trace(plan.moves)
		name.Shortest[len(name.Shortest)-1].Name = t.Name
		return name
	}
	if plan.result == Unknown {
		name.Why = plan.why
		return name
	}
	if doubtful := m.plan(q.tag, false); doubtful.result == Refuted {
		name.Why, name.Supposed = whyDoubtful, ""
		if unsure := unsureOf(doubtful.moves); unsure != nil {
			name.Why, name.Supposed = m.doubt(unsure, "only if there is a tool ")
		}
		return name
	}
	f := m.never(q, plan.nets)
	if why := m.yielding(plan.nets); f.result == Refuted && why != "" {
		name.Why = why
		return name
	}
	switch f.result {
	case Refuted:
		name.Callable, name.Failing = AfterFailure, m.trace(f.moves)
		name.Failing[len(name.Failing)-1].Name = t.Name
	case Proved:
		name.Callable, name.Because = Impossible, m.named(m.minimal(q, f.nets))
	default:
		name.Why, name.Supposed = f.why, f.supposed
	}
	return name
}

// nameless is a name that no call has, or only one that the default denies.
func (m *model) nameless(name Name) Name {
	if name.Why = m.anyGap(); name.Why != "" {
		return name
	}
	name.Callable, name.Default = Impossible, true
	return name
}

// minimal leaves nets out as long as the query is still never met.
func (m *model) minimal(q *query, nets []int) []int {
	nets = slices.Clone(nets)
	for i := 0; i < len(nets); {
		fewer := slices.Delete(slices.Clone(nets), i, i+1)
		if !m.stop() && m.forbid(q, fewer) {
			nets = fewer
			continue
		}
		i++
	}
	return nets
}

// forbid reports whether the nets alone admit no call that the query wants.
func (m *model) forbid(q *query, nets []int) bool {
	v := m.view(nets, viewOptions{tag: q.tag})
	if m.gap(nets, q.tag) == "" && v.barred() {
		return true
	}
	if path, ok := m.newPlanner(v, -1).search(viewOptions{limit: m.limit}); ok && path != nil {
		return false
	}
	s, why := m.settle(q, nets, viewOptions{tag: q.tag, limit: m.limit})
	return why == "" && s.hit < 0
}

// allRedundant finds nets that can be left out, all of them together. Of two
// that say the same, the later one goes.
func (m *model) allRedundant() []Redundant {
	var out []Redundant
	until := m.effort + redundantEffort
	for i := len(m.nets) - 1; i >= 0 && !m.stop(); i-- {
		each := max(redundantLeastEach, min(redundantMostEach, until-m.effort))
		if because, ok := m.redundant(i, each); ok {
			m.off[i] = true
			out = append(out, Redundant{m.named([]int{i})[0], m.named(because)})
		}
	}
	slices.Reverse(out)
	return out
}

// Bounds of the effort of finding redundant nets: for all of them, and for each
// at most and at least. Where it ends a net is taken for useful: to say so of a
// useless one does no harm.
const (
	redundantEffort    = 200_000
	redundantMostEach  = 40_000
	redundantLeastEach = 2_000
)

// redundant reports whether the net never changes a verdict, and the nets that
// are before it.
func (m *model) redundant(n, effort int) (because []int, ok bool) {
	if m.nets[n].info.Validate != nil {
		return nil, false // it judges arguments, and those are not looked at here
	}
	if m.nets[n].info.Advisory || m.nets[n].info.Recovery != nil {
		return nil, false // which nets yield depends on it
	}
	if m.nets[n].info.Shadow || m.gap([]int{n}, nil) != "" {
		return nil, false
	}
	if m.deny && slices.ContainsFunc(m.shapes, func(s *shape) bool { return m.solely(s, n) }) {
		return nil, false
	}
	r := m.newRun()
	for _, i := range m.byNet[n] {
		if m.shapes[i].waits {
			continue
		}
		blocking, asking := r.judge(m.shapes[i])
		if m.notAlone(n, blocking, asking, m.shapes[i]) < 0 {
			return nil, false
		}
	}
	q := &query{sole: n}
	o := viewOptions{about: n + 1, limit: m.limit, until: m.effort + effort}
	plan := found{result: Proved, nets: []int{n}}
	if m.nets[n].counter() < 0 { // a plan that uses up a large counter would be long
		plan = m.planFor(q, plan.nets, o)
	}
	if plan.result != Proved {
		return nil, false
	}
	f := m.neverOf(q, plan.nets, o)
	if f.result != Proved {
		return nil, false
	}
	because = m.minimalWith(q, f.nets, n)
	return slices.DeleteFunc(because, func(i int) bool { return i == n }), true
}

// solely reports whether the default would deny the call without the net.
func (m *model) solely(s *shape, n int) bool {
	return slices.Contains(s.knowers, n) && !slices.ContainsFunc(s.knowers, func(k int) bool { return k != n && !m.off[k] })
}

// minimalWith leaves nets out but for one.
func (m *model) minimalWith(q *query, nets []int, keep int) []int {
	nets = slices.Clone(nets)
	for i := 0; i < len(nets); {
		fewer := slices.Delete(slices.Clone(nets), i, i+1)
		if nets[i] != keep {
			o := viewOptions{about: keep + 1, limit: m.limit, until: m.effort + redundantMostEach}
			if s, why := m.settle(q, fewer, o); why == "" && s.hit < 0 {
				nets = fewer
				continue
			}
		}
		i++
	}
	return nets
}

// overlaps finds maps of one field that one text can match.
func (m *model) overlaps(maps []gate.Map) []Overlap {
	out := m.overlapping(maps)
	for _, n := range m.nets {
		if n.info.Labels == nil {
			out = append(out, m.overlapping(n.info.Maps)...)
		}
	}
	return out
}

func (m *model) overlapping(maps []gate.Map) []Overlap {
	var out []Overlap
	patterns := make([]pattern, len(maps))
	for i := range maps {
		if m.stop() {
			return out
		}
		patterns[i] = newPattern(&maps[i])
		for j := range maps[:i] {
			a, b := &maps[j], &maps[i]
			if a.Tool != b.Tool || a.Field != b.Field || a.As == b.As {
				continue
			}
			if text, ok := witness([]pattern{patterns[j], patterns[i]}, 3); ok {
				out = append(out, Overlap{*a, *b, text})
			}
		}
	}
	return out
}
