package callclass

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate/naming"
	"github.com/petrigate/petrigate/internal/list"
)

// mapsOf returns the patterns of the maps that read the given field of the tool.
func (b *vocabulary) mapsOf(field string, tools []naming.Label) []pattern {
	maps := list.Filter(b.maps, func(m *mapping) bool { return m.Field == field && m.appliesTo(tools) })
	return list.Map(maps, newPattern)
}

// values returns possible contents of the field, one for each distinct effect on the nets. ok is
// false if there are too many of them.
func (b *Enumerator) values(field string, tools []naming.Label) (values []*value, ok bool) {
	ps := b.mapsOf(field, tools)
	if len(ps) > maxListed {
		return nil, false
	}
	if field == "action" {
		alone, actions := b.actionValues(tools, ps)
		values, ok = listValues(actions)
		return append(alone, values...), ok
	}
	var out []*value
	for set := uint64(1); set < 1<<len(ps); set++ {
		strong, ok := b.kindsOf(field, ps, set, 0)
		if !ok {
			return nil, false
		}
		if len(strong) == 0 {
			continue
		}
		out = append(append(out, strong...), weakValue(field, ps, set))
	}
	return out, true
}

// weakValue returns a value that is not a string, such as a list, and that matches the patterns in
// set and no others.
func weakValue(field string, ps []pattern, set uint64) *value {
	weak := &value{field: field, weak: true, hits: hitsOf(ps, set)}
	if text, ok := witness(ps, set); ok {
		weak.texts = []string{text}
	} else {
		weak.texts = weakWitness(ps, set)
	}
	return weak
}

// weakWitness returns a list of texts. Each pattern in set matches at least one of the texts, and
// no other pattern matches any. If no such list was found, weakWitness returns nil.
func weakWitness(ps []pattern, set uint64) []string {
	var leaves []string
	for i := range members(set) {
		s, ok := witness(ps, 1<<i)
		if !ok {
			return nil
		}
		leaves = append(leaves, s)
	}
	if texts := leavesOf(leaves); exactly(ps, set, texts...) {
		return texts
	}
	return nil
}

// leavesOf returns the strings that map statements read from a list: its elements and, if there are
// several, all of them joined by spaces.
func leavesOf(leaves []string) []string {
	if len(leaves) < 2 {
		return leaves
	}
	return append(slices.Clone(leaves), strings.Join(leaves, " "))
}

// listValues returns a list value for each nonempty set of the actions. ok is false if there are too
// many.
func listValues(actions []string) (values []*value, ok bool) {
	if len(actions) > maxMapsOfField {
		return nil, false
	}
	for set := uint64(1); set < 1<<len(actions); set++ {
		values = append(values, &value{field: "action", weak: true, texts: leavesOf(selectBySet(actions, set))})
	}
	return values, true
}

// actionValues returns the values of the field "action" that the policy distinguishes, except lists
// of actions. listed contains the actions that can be combined in lists. It excludes actions that
// represent several other actions. If some values might be missing, actionValues records a gap in
// the enumeration.
func (b *Enumerator) actionValues(tools []naming.Label, ps []pattern) (values []*value, listed []string) {
	var texts []string
	for _, t := range tools {
		texts = list.Add(texts, b.action[t.Text]...)
	}
	invented := slices.DeleteFunc(slices.Clone(texts), func(s string) bool { _, made := b.joint[tools[0].Text+"."+s]; return !made })
	complete := len(ps) <= maxMapsOfField && (len(invented) == 0 || !slices.ContainsFunc(ps, func(p pattern) bool { return p.Reader != nil }))
	if len(ps) > 0 {
		for _, s := range invented { // a synthesized action represents all actions that the same name patterns match, but a map statement may match only some of them
			values = append(values, &value{field: "action", like: s})
		}
	}
	tried := min(len(ps), maxMapsOfField)
	for set := uint64(1); set < 1<<tried; set++ {
		known, unknown, ok := b.actionsOf(tools, ps[:tried], set, invented)
		complete = complete && ok
		texts = list.Add(texts, known...)
		values = append(values, unknown...)
	}
	for _, p := range ps[tried:] { // map statements beyond the limit are not combined; add one value for each of them, so that the missing combinations are reported for the nets that they affect
		values = append(values, &value{field: "action", hits: []hit{{of: p.mapping}}})
	}
	if !complete {
		b.addGap(tools[0].Text, "the maps of %s.action can match in more ways than were tried", tools[0].Text)
	}
	for _, s := range texts {
		values = append(values, &value{field: "action", texts: []string{s}})
	}
	return values, slices.DeleteFunc(texts, func(s string) bool { return b.joint[tools[0].Text+"."+s] })
}

// actionsOf returns the actions that match exactly the patterns in set: strings for known actions,
// and values for unknown ones. ok is false if there are too many actions.
func (b *Enumerator) actionsOf(tools []naming.Label, ps []pattern, set uint64, invented []string) (texts []string, others []*value, ok bool) {
	values, ok := b.kindsOf("action", ps, set, 0)
	for _, v := range values {
		if v.texts != nil && b.namesAction(tools, v.texts[0]) {
			texts = append(texts, v.texts...)
			v = b.unnamedAction(tools, ps, set, v.texts[0])
		}
		if v.texts == nil {
			others = append(others, v)
		} else {
			texts = append(texts, v.texts...)
		}
	}
	if len(others) > 0 {
		others = append(others, weakValue("action", ps, set))
	}
	if len(values) > 0 {
		for _, s := range invented {
			others = append(others, &value{field: "action", like: s, hits: hitsOf(ps, set)})
		}
	}
	return texts, others, ok
}

// namesAction reports whether a rule refers to the action by a name of the form tool.action, either
// directly or through a pattern. A pattern does not count if it already matches a name of the tool.
func (b *vocabulary) namesAction(tools []naming.Label, action string) bool {
	return slices.ContainsFunc(tools, func(t naming.Label) bool {
		l := naming.Label{Text: t.Text + "." + action, From: naming.FromAction, Certain: t.Certain}
		return b.naming.Dotted()[l.Text] || b.naming.Needs(&l, tools)
	})
}

// unnamedAction returns an action that no rule names and that matches the same map statements as
// the given action. If possible, it extends the given action; otherwise, it returns an abstract
// value.
func (b *Enumerator) unnamedAction(tools []naming.Label, ps []pattern, set uint64, action string) *value {
	hits, _ := b.exactHits(ps, set, action)
	for _, s := range join(action, "x") {
		if longer, exact := b.exactHits(ps, set, s); exact && slices.Equal(longer, hits) && !b.namesAction(tools, s) {
			return &value{field: "action", texts: []string{s}}
		}
	}
	return &value{field: "action", hits: hits}
}
