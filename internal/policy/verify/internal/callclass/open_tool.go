package callclass

import (
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/gate/naming"
	"github.com/petrigate/petrigate/internal/list"
)

// An openTool is a tool with too many classes of calls to list, because its calls can match many
// combinations of map statements and actions. Classes are created separately for each question
// about the policy; see [Enumerator.Kinds].
type openTool struct {
	deferredGroup
	name   string
	base   []naming.Label
	fields []openField
	known  []int // indexes of the map statements or actions that can make the call known to a net
}

// An openField is a field of an open tool. Its atoms are map statements for the field, or actions
// that the field can name. A value can match any combination of atoms. The values in fixed are
// tried for every question.
type openField struct {
	name    string
	first   int       // index of the field's first atom among the atoms of all fields of the tool
	ps      []pattern // patterns of the field's map statements; nil if the atoms are actions
	actions []string  // actions whose combinations are tried as lists; nil unless the field is "action"
	fixed   []*value
}

// deferTool defers the enumeration of the tool's classes until a question needs them. It
// immediately adds only classes of calls with at most one argument.
func (b *Enumerator) deferTool(tool string, base []naming.Label) {
	o := &openTool{name: tool, base: base}
	o.made, o.of = make(map[string]kindSet), func(atoms []int) kindSet { return b.kindsOfTool(o, atoms) }
	var all []int
	for _, name := range b.fields(base) {
		f := b.openField(name, base)
		f.first = len(all)
		for range f.size() {
			all = append(all, len(all))
		}
		o.fields = append(o.fields, f)
	}
	b.add(tool, &form{tools: base})
	for i := range o.fields {
		for _, v := range slices.Concat(o.fields[i].fixed, b.singleTextValues(&o.fields[i])) {
			b.add(tool, &form{tools: base, fields: []value{*v}})
		}
	}
	b.findVisible(o)
	o.overflow = o.overflowReason(all)
	b.deferred = append(b.deferred, &o.deferredGroup)
}

func (b *Enumerator) openField(name string, base []naming.Label) openField {
	f := openField{name: name, ps: b.mapsOf(name, base)}
	if name == "action" {
		f.fixed, f.actions = b.actionValues(base, f.ps)
		f.ps = nil
	}
	return f
}

func (f *openField) size() int { return len(f.ps) + len(f.actions) }

// ownAtoms returns the atoms of the field among the given atoms. An atom is a map or an action. The
// returned atoms are numbered from 0 within the field.
func (f *openField) ownAtoms(atoms []int) (own []int) {
	for _, a := range atoms {
		if a >= f.first && a < f.first+f.size() {
			own = append(own, a-f.first)
		}
	}
	return own
}

// samplesEach is the maximum number of samples that [Enumerator.singleTextValues] takes from each
// pattern.
const samplesEach = 2

// singleTextValues takes a few samples that the field's patterns match. For each sample, it returns
// two values: the sample itself, and a list that contains only the sample.
func (b *Enumerator) singleTextValues(f *openField) []*value {
	var out []*value
	for i := range f.ps {
		samples := f.ps[i].samples[:min(samplesEach, len(f.ps[i].samples))]
		if s := f.ps[i].evidentCommand(); s != "" && !slices.Contains(samples, s) {
			samples = append(slices.Clone(samples), s)
		}
		for _, s := range samples {
			out = append(out, &value{field: f.name, texts: []string{s}}, &value{field: f.name, weak: true, texts: []string{s}})
		}
	}
	return out
}

// findVisible determines which of the tool's maps and actions each net can see. For each of them,
// it also creates the class of calls that match nothing else.
func (b *Enumerator) findVisible(o *openTool) {
	without := b.class(o.name, &form{tools: o.base})
	o.byNet = make([][]int, len(b.nets))
	for _, f := range o.fields {
		for i := range f.size() {
			if b.clock.tick() {
				return
			}
			v := f.value(i)
			s := b.class(o.name, &form{tools: o.base, fields: []value{*v}})
			o.alone = append(o.alone, []contrast{{s, without}})
			certain := s
			if len(v.hits) == 1 {
				v.hits[0].certain = true
				certain = b.class(o.name, &form{tools: o.base, fields: []value{*v}})
			}
			if len(certain.KnownTo) > 0 {
				o.known = append(o.known, f.first+i)
			}
			for _, n := range b.nets {
				if plain := without.MeaningIn(n.Index); s.MeaningIn(n.Index) != plain || certain.MeaningIn(n.Index) != plain ||
					f.ps != nil && (n.Info.MatchFirst && f.ps[i].net == n.Index || n.exempts(f.ps[i].As)) {
					o.byNet[n.Index] = append(o.byNet[n.Index], f.first+i)
				}
			}
		}
	}
	for n, atoms := range o.byNet {
		if len(atoms) > 0 || without.Concerns(n) {
			o.nets = append(o.nets, n)
		}
	}
}

// value returns a value that matches only the map statement or action with the given index.
func (f *openField) value(atom int) *value {
	if f.ps == nil {
		return &value{field: f.name, weak: true, texts: f.actions[atom : atom+1]}
	}
	return &value{field: f.name, hits: []hit{{of: f.ps[atom].mapping}}}
}

func (b *Enumerator) kindsOfTool(o *openTool, atoms []int) kindSet {
	if b.clock.expired() {
		return kindSet{gap: WhyTime}
	}
	options, count := make([][]*value, len(o.fields)), 1
	for i := range o.fields {
		f := &o.fields[i]
		values, ok := b.subsets(f, f.ownAtoms(atoms))
		options[i] = slices.Concat([]*value{nil}, f.fixed, values)
		if count *= len(options[i]); !ok || count > maxClassesOfTool {
			return kindSet{gap: o.overflowReason(atoms)}
		}
	}
	var k kindSet
	eachForm(o.base, options, count, func(f *form) {
		if !b.clock.tick() {
			k.classes = append(k.classes, b.variants(o.name, f)...)
		}
	})
	if b.clock.late {
		return kindSet{gap: WhyTime}
	}
	if b.Deny {
		k.classes = o.admittedClasses(k.classes, atoms)
	}
	return k
}

// admittedClasses removes the classes that the policy denies by default because no net knows them.
// It keeps such a class, marked as doubtful, if a net could know its calls through a map statement
// or action that is missing from atoms.
func (o *openTool) admittedClasses(classes []*Class, atoms []int) []*Class {
	unseen := slices.ContainsFunc(o.known, func(a int) bool { return !slices.Contains(atoms, a) })
	return slices.DeleteFunc(classes, func(s *Class) bool {
		s.Doubtful = s.Doubtful || len(s.KnownTo) == 0
		return len(s.KnownTo) == 0 && !unseen
	})
}

// subsets returns values of the field. Each value matches a nonempty subset of atoms. Several
// values can match the same subset. Atoms are indexes of map statements or of actions. If nets do
// not distinguish several map statements, a subset contains at most one of them. ok is false if
// there are too many subsets.
func (b *Enumerator) subsets(f *openField, atoms []int) (values []*value, ok bool) {
	if f.ps == nil {
		return listValues(list.Map(atoms, func(a int) string { return f.actions[a] }))
	}
	ps := list.Map(atoms, func(a int) pattern { return f.ps[a] })
	groups, count := b.groupByLabel(ps), 1
	if len(ps) > 64 {
		return nil, false // a set of patterns must fit into 64 bits
	}
	for _, g := range groups {
		if count *= 1 + len(g); count > maxSetsOfField {
			return nil, false
		}
	}
	var all Numbers[*value]
	add := func(v *value) {
		if i := all.NumberOf([]byte(certaintyOf(v, ps, groups)), v); all.List[i].texts == nil {
			all.List[i] = v
		}
	}
	for k := 1; k < count; k++ {
		set, either, rest := uint64(0), uint64(0), k
		for _, g := range groups {
			if at := rest % (1 + len(g)); at > 0 {
				set |= 1 << g[at-1]
				for _, i := range g {
					either |= 1 << i
				}
			}
			rest /= 1 + len(g)
		}
		strong, ok := b.kindsOf(f.name, ps, set, either)
		if !ok {
			return nil, false
		}
		for _, v := range strong {
			add(v)
		}
		if len(strong) > 0 {
			add(weakValue(f.name, ps, set))
		}
	}
	return all.List, true
}

// maxSetsOfField limits the number of subsets of a field's maps to try for one question.
const maxSetsOfField = 2048

// certaintyOf returns a key that identifies everything that nets can distinguish about the value:
// whether it is a string and, for each label, whether the label is certain and whether it counts
// toward requirements.
func certaintyOf(v *value, ps []pattern, groups [][]int) string {
	var certainties []string
	for _, h := range v.hits {
		label := slices.IndexFunc(groups, func(g []int) bool {
			return slices.ContainsFunc(g, func(i int) bool { return ps[i].mapping == h.of })
		})
		certainties = append(certainties, fmt.Sprint(label, h.weak, h.certain))
	}
	slices.Sort(certainties)
	return fmt.Sprint(v.weak, certainties)
}

// groupByLabel groups the patterns by the label that they give to a call. If a net uses only its
// first matching map, each of its maps forms a group.
func (b *vocabulary) groupByLabel(ps []pattern) [][]int {
	var groups [][]int
	for i := range ps {
		net := ps[i].net
		at := slices.IndexFunc(groups, func(g []int) bool {
			first := &ps[g[0]]
			return first.As == ps[i].As && first.net == net && (net < 0 || !b.nets[net].Info.MatchFirst)
		})
		if at < 0 {
			groups = append(groups, []int{i})
		} else {
			groups[at] = append(groups[at], i)
		}
	}
	return groups
}

// overflowReason returns the reason why not all calls to the tool were enumerated for the given atoms
// (maps or actions).
func (o *openTool) overflowReason(atoms []int) string {
	var names []string
	for i := range o.fields {
		f := &o.fields[i]
		for _, a := range f.ownAtoms(atoms) {
			name := "actions"
			if f.ps != nil {
				name = f.ps[a].As
			}
			names = list.Add(names, name)
		}
	}
	return fmt.Sprintf("the calls of %s can have these names together in more ways than were tried: %s", o.name, joinNames(names))
}
