package callclass

import (
	"encoding/json"
	"slices"

	"github.com/petrigate/petrigate/gate"
)

// literal returns a literal for the field of d: the tracked value or, if d.Has is [Other], a
// different value. If possible, it takes the value from v.
func (b *fieldTable) literal(v Values, d *Datum) literal {
	texts := b.sorts[d.sort].texts
	same, ok := v.same[d.sort]
	if !ok {
		same = quoteJSON(texts[0])
	}
	if d.Has != Other {
		return same
	}
	for _, l := range []literal{v.other[d.sort], quoteJSON(texts[1])} {
		if l != "" && l != same {
			return l
		}
	}
	return quoteJSON(texts[0])
}

// sourceOf returns the source text of field f's expression. It takes the text from keys and
// assertions, because a normalized field does not contain it.
func (b *fieldTable) sourceOf(f gate.Field) string {
	for _, n := range b.nets {
		for t := range n.Info.Transitions {
			for _, g := range n.keyFields(t) {
				if normalize(g) == f {
					return g.Source
				}
			}
		}
	}
	for _, r := range b.asked {
		if normalize(r.Field) == f {
			return r.Field.Source
		}
	}
	return ""
}

// mayMatchMap reports whether setting a field to the given value might make an additional map
// statement match. It considers only map statements for fields that have no content yet.
func (w *recipe) mayMatchMap(field string, l literal) bool {
	var text string
	if json.Unmarshal([]byte(l), &text) != nil {
		text = string(l)
	}
	return slices.ContainsFunc(w.b.maps, func(m *mapping) bool {
		reads := m.Field == field || m.Field != "" && overlap(m.Field, field)
		return reads && m.appliesTo(w.form.tools) && w.form.value(m.Field) == nil && m.matches(text)
	})
}

// mustLack reports whether keys must find no value in the given argument.
func (p presences) mustLack(field string) bool {
	return slices.ContainsFunc(p, func(d Datum) bool { return d.Has == Lacks && !d.Field.Result && d.Field.Path == field })
}

// setsLacking reports whether the members set an argument that keys must be unable to read, or an
// argument that contains such a field.
func (p presences) setsLacking(members map[string]any) bool {
	return slices.ContainsFunc(p, func(d Datum) bool {
		if d.Has != Lacks || d.Field.Result || d.Field.Path == "" {
			return false
		}
		_, there := members[keysOf(d.Field.Path)[0]]
		return there
	})
}

// permitsLack reports whether none of the fields that data marks as [Lacks] is a string in the
// form. Keys must find no value in these fields, but a key can read a string.
func (f *form) permitsLack(data []Datum) bool {
	return !slices.ContainsFunc(data, func(d Datum) bool {
		v := f.value(d.Field.Path)
		return d.Has == Lacks && !d.Field.Result && d.Field.Path != "" && v != nil && !v.weak
	})
}
