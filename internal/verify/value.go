package verify

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
)

// values are what a field can hold, as far as it makes a difference.
func (b *shaper) values(field string, tools []label) []*value {
	var ps []pattern
	var keys []mapKey
	each := func(maps []gate.Map, net int) {
		for i := range maps {
			if maps[i].Field == field && hasTool(tools, maps[i].Tool) {
				ps = append(ps, newPattern(&maps[i]))
				keys = append(keys, mapKey{net, i})
			}
		}
	}
	each(b.naming.maps, -1)
	for _, n := range b.nets {
		if !n.info.Labels {
			each(n.info.Maps, n.index)
		}
	}
	if field == "action" {
		return b.actionValues(tools, ps)
	}
	var out []*value
	for _, set := range b.sets(len(ps), field, tools) {
		if text, ok := witness(ps, set); ok {
			out = append(out, &value{field: field, texts: []string{text}}, &value{field: field, weak: true, texts: []string{text}})
			continue
		}
		if impossible(ps, set) {
			continue
		}
		abstract := value{field: field}
		for i, k := range keys {
			if set&(1<<i) != 0 {
				abstract.hits = append(abstract.hits, k)
			}
		}
		weak := abstract
		weak.weak = true
		if texts := weakWitness(ps, set); texts != nil {
			weak.texts = texts
		}
		out = append(out, &abstract, &weak)
	}
	return out
}

// sets are the sets of n patterns that are tried: all, or where they are too
// many, the small ones and the whole.
func (b *shaper) sets(n int, field string, tools []label) []uint64 {
	var sets []uint64
	if n <= maxMapsOfField {
		for set := uint64(1); set < 1<<n; set++ {
			sets = append(sets, set)
		}
		return sets
	}
	b.gap(tools[0].text, "the maps of %s.%s can match in more ways than were tried", tools[0].text, field)
	for i := range min(n, 63) {
		sets = append(sets, 1<<i)
	}
	return sets
}

// weakWitness is a list of texts that together are matched by exactly the
// patterns of the set.
func weakWitness(ps []pattern, set uint64) []string {
	var leaves []string
	for i := range ps {
		if set&(1<<i) == 0 {
			continue
		}
		s, ok := witness(ps, 1<<i)
		if !ok {
			return nil
		}
		leaves = append(leaves, s)
	}
	texts := leavesOf(leaves)
	for i := range ps {
		if slices.ContainsFunc(texts, ps[i].match) != (set&(1<<i) != 0) {
			return nil
		}
	}
	return texts
}

// leavesOf are the texts that a list of strings stands for.
func leavesOf(leaves []string) []string {
	if len(leaves) < 2 {
		return leaves
	}
	return append(slices.Clone(leaves), strings.Join(leaves, " "))
}

// actionValues are the actions that the policy tells apart, alone or, as a
// value that is no string, together.
func (b *shaper) actionValues(tools []label, ps []pattern) []*value {
	var texts []string
	for _, t := range tools {
		for _, a := range b.action[t.text] {
			if !slices.Contains(texts, a) {
				texts = append(texts, a)
			}
		}
	}
	for set := uint64(1); set < 1<<min(len(ps), maxMapsOfField); set++ {
		if s, ok := witness(ps, set); ok && !slices.Contains(texts, s) {
			texts = append(texts, s)
		}
	}
	var out []*value
	for _, s := range texts {
		out = append(out, &value{field: "action", texts: []string{s}})
	}
	// As a list, actions that others stand for together add nothing.
	texts = slices.DeleteFunc(texts, func(s string) bool { return b.joint[tools[0].text+"."+s] })
	if len(texts) > maxActionsAtOne {
		b.gap(tools[0].text, "a call of %s can name its actions together in more ways than were tried", tools[0].text)
		for _, s := range texts {
			out = append(out, &value{field: "action", weak: true, texts: []string{s}})
		}
		return append(out, &value{field: "action", weak: true, texts: leavesOf(texts)})
	}
	for set := 1; set < 1<<len(texts); set++ {
		var leaves []string
		for i, s := range texts {
			if set&(1<<i) != 0 {
				leaves = append(leaves, s)
			}
		}
		out = append(out, &value{field: "action", weak: true, texts: leavesOf(leaves)})
	}
	return out
}
