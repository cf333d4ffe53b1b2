package callclass

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
)

// A recipe is how the arguments of a class are made.
type recipe struct {
	b        *Enumerator
	form     *form
	data     presences
	sums     []sum
	maySpend bool   // sums may grow
	fixed    Values // what the form says of the values
}

type presences []Datum

// lack reports whether keys read the field and find nothing there.
func (p presences) lack(field string) bool {
	return slices.ContainsFunc(p, func(d Datum) bool { return d.Has == Lacks && !d.Field.Result && d.Field.Path == field })
}

// filled reports whether the members fill a field in which keys are to find nothing.
func (p presences) filled(members map[string]any) bool {
	return slices.ContainsFunc(p, func(d Datum) bool {
		if d.Has != Lacks || d.Field.Result || d.Field.Path == "" {
			return false
		}
		_, there := members[keysOf(d.Field.Path)[0]]
		return there
	})
}

// permits reports whether the content that the form says of the fields permits what
// keys are to read there: a text is a value.
func (f *form) permits(data []Datum) bool {
	return !slices.ContainsFunc(data, func(d Datum) bool {
		v := f.value(d.Field.Path)
		return d.Has == Lacks && !d.Field.Result && d.Field.Path != "" && v != nil && !v.weak
	})
}

// Values are the values that calls of a run have for what is looked at, by the sort of
// the fields.
type Values struct {
	same, other map[int]literal
}

// A literal is a JSON value as it is written.
type literal string

// MarshalJSON returns the literal.
func (l literal) MarshalJSON() ([]byte, error) { return []byte(l), nil }

// quoted is the literal of a text.
func quoted(text string) literal {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // a text
	}
	return literal(b)
}

// literal is the value that the datum has: another is not the one that is looked at.
func (b *Enumerator) literal(v Values, d *Datum) literal {
	texts := b.sorts[d.sort].texts
	same, ok := v.same[d.sort]
	if !ok {
		same = quoted(texts[0])
	}
	if d.Has != Other {
		return same
	}
	for _, l := range []literal{v.other[d.sort], quoted(texts[1])} {
		if l != "" && l != same {
			return l
		}
	}
	return quoted(texts[0])
}

// Values are those with which the arguments of the class were made.
func (s *Class) Values() Values {
	if s.of == nil {
		return Values{}
	}
	return s.of.fixed
}

// HasValues reports whether the arguments of the class have these values where they have
// the value that is looked at. What maps make of one value is nothing to another: calls
// with different ones are not of one value, though each could be.
func (s *Class) HasValues(v Values) bool {
	return s.of == nil || !slices.ContainsFunc(s.Data, func(d Datum) bool {
		return d.Has == Same && s.of.b.literal(v, &d) != s.of.b.literal(s.of.fixed, &d)
	})
}

// RecordKey notes the values of a key of the net, where none are noted yet.
func (b *Enumerator) RecordKey(v *Values, net int, key []gate.KeyValue) {
	if v.same == nil {
		v.same = make(map[int]literal)
	}
	n := b.nets[net]
	for t := range n.Info.Transitions {
		fields := n.reading(t)
		if len(fields) != len(key) {
			continue
		}
		for i, f := range fields {
			if sort := b.sortOf[normalize(f)]; v.same[sort] == "" {
				v.same[sort] = literal(key[i].Value)
			}
		}
		return
	}
}

// KeyText is the text by which the state of a net knows the values; ok is false where
// they are not known.
func (b *Enumerator) KeyText(v Values, net int) (text string, ok bool) {
	n := b.nets[net]
	for t := range n.Info.Transitions {
		var parts []string
		for _, f := range n.reading(t) {
			l := v.same[b.sortOf[normalize(f)]]
			if l == "" {
				return "", false
			}
			parts = append(parts, string(l))
		}
		if len(parts) > 0 {
			text = strings.Join(parts, ",")
			return text, len(text) <= maxKeyText
		}
	}
	return "", false
}

// maxKeyText is the length of a text from which the state of a net has a hash.
const maxKeyText = 200

// findWitness finds arguments of the class, those first that add nothing to sums; it is doubtful
// where none are found.
func (b *Enumerator) findWitness(s *Class, f *form) {
	w := &recipe{b: b, form: f, data: s.Data, sums: b.sums(s)}
	s.of, s.Doubtful = w, true
	for _, w.maySpend = range []bool{false, true} {
		for v := range w.candidates() {
			if args, ok := w.arguments(v); ok {
				w.fixed = v
				s.Args, s.Doubtful, s.Spends = args, b.entangled(f), w.maySpend
				return
			}
		}
		if len(w.sums) == 0 {
			return
		}
	}
	b.addRefusals(s, w)
}

// arguments is the JSON of a call with these values; known is false where none was
// found.
func (w *recipe) arguments(v Values) (args string, known bool) {
	o, ok := objectOf(w.form, w.data, w.sums)
	if !ok {
		return "", false
	}
	var expressions []Datum
	for _, d := range w.data {
		switch {
		case d.Field.Result:
		case d.Field.Reader != nil:
			expressions = append(expressions, d)
		case d.Has != Lacks && (w.matched(d.Field.Path, w.b.literal(v, &d)) || !o.place(d.Field.Path, w.b.literal(v, &d))):
			return "", false
		}
	}
	return w.complete(o, v, expressions)
}

// matched reports whether a map matches the value of which the form does not say so.
func (w *recipe) matched(field string, l literal) bool {
	var text string
	if json.Unmarshal([]byte(l), &text) != nil {
		text = string(l)
	}
	return slices.ContainsFunc(w.b.maps, func(m *mapping) bool {
		reads := m.Field == field || m.Field != "" && overlap(m.Field, field)
		return reads && m.appliesTo(w.form.tools) && w.form.value(m.Field) == nil && m.matches(text)
	})
}

// Free reports whether calls of the class can have as many values as one likes where
// keys read: nothing else is known to read there.
func (s *Class) Free() bool {
	if s.of == nil || len(s.Data) == 0 {
		return true
	}
	b, f := s.of.b, s.of.form
	return b.conditionsOf(f.tools) == nil && !slices.ContainsFunc(s.Data, func(d Datum) bool {
		return d.Field.Reader != nil || slices.ContainsFunc(f.fields, func(v value) bool {
			return v.field == d.Field.Path || overlap(v.field, d.Field.Path)
		})
	})
}

// maxCompletions bounds what is tried for conditions and expressions together.
const maxCompletions = 2048

// complete adds members until the conditions of the tool and the expressions say of
// the call what they are to say.
func (w *recipe) complete(o object, v Values, expressions []Datum) (args string, known bool) {
	c := w.b.conditionsOf(w.form.tools)
	says := func(o object) (string, bool) {
		o, ok := w.withSums(o)
		if !ok {
			return "", false
		}
		text := o.text()
		return text, (c == nil || w.b.agree(c, w.form, text)) && w.read(text, v, expressions)
	}
	conditions, members := []map[string]any{{}}, []map[string]any{{}}
	if sources := w.summed(); len(sources) > 0 {
		if c != nil {
			sources = append(sources, c.sources()...)
		}
		conditions = samples(sources, w.b.fields(w.form.tools))
	} else if c != nil {
		conditions = c.samples
	}
	if len(expressions) > 0 {
		members = w.samples(v, expressions)
	}
	tries := 0
	for _, m := range members {
		with, ok := o.with(m)
		if !ok {
			continue
		}
		for _, s := range conditions {
			if tries++; tries > maxCompletions {
				return "", false
			}
			if w.data.filled(m) || w.data.filled(s) {
				continue
			}
			if merged, ok := with.with(s); ok {
				if text, ok := says(merged); ok {
					return text, true
				}
			}
		}
	}
	return "", false
}

// written is the expression as a net has it.
func (b *Enumerator) written(f gate.Field) string {
	for _, n := range b.nets {
		for t := range n.Info.Transitions {
			for _, g := range n.reading(t) {
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

// place sets what a field reads; ok is false where something else stands there.
func (o object) place(field string, content any) bool {
	var keys []string
	if isPath(field) {
		keys = steps(field)
	} else {
		keys = []string{field}
	}
	at := map[string]any(o)
	for i, key := range keys {
		if strings.HasPrefix(key, "[") || i > 0 && at == nil {
			return false
		}
		last := i+1 == len(keys)
		elements := 0
		for !last && i+1+elements < len(keys) && strings.HasPrefix(keys[i+1+elements], "[") {
			elements++
		}
		if i+1+elements == len(keys) {
			value := content
			for range elements {
				value = []any{value}
			}
			if old, there := at[key]; there {
				return same(old, value) || same(old, []any{value}) // the one element has it, too
			}
			at[key] = value
			return true
		}
		inner := make(map[string]any)
		switch old := at[key].(type) {
		case nil:
			var value any = inner
			for range elements {
				value = []any{value}
			}
			at[key] = value
		case map[string]any:
			if elements > 0 {
				return false
			}
			inner = old
		default:
			return false
		}
		if elements > 0 {
			return object(inner).placeKeys(keys[i+1+elements:], content)
		}
		at = inner
	}
	return false
}

func (o object) placeKeys(keys []string, content any) bool {
	return o.place("$."+strings.Join(keys, "."), content)
}

// same reports whether both are written alike.
func same(a, b any) bool {
	x, err := json.Marshal(a)
	y, other := json.Marshal(b)
	return err == nil && other == nil && string(x) == string(y)
}

// Common are values that all of the classes can have, as far as one value of each
// sort will do.
func Common(classes []*Class) Values {
	all := Values{same: make(map[int]literal)}
	for _, s := range classes {
		maps.Copy(all.same, s.Values().same)
	}
	for _, s := range classes {
		if takenBy(classes, all) {
			break
		}
		one := Values{same: maps.Clone(all.same)}
		maps.Copy(one.same, s.Values().same)
		if takenBy(classes, one) {
			return one
		}
	}
	return all
}

func takenBy(classes []*Class, v Values) bool {
	return !slices.ContainsFunc(classes, func(s *Class) bool { return !s.Takes(v) })
}

// Takes reports whether a call of the class can have the values.
func (s *Class) Takes(v Values) bool {
	if s.of == nil || len(s.Data) == 0 {
		return true
	}
	v.other = s.of.fixed.other
	_, ok := s.of.arguments(v)
	return ok
}

// Filled are the arguments and the result of a call of the class with the values.
func (s *Class) Filled(v Values) (args, result string) {
	if s.of == nil || len(s.Data) == 0 {
		return s.Args, ""
	}
	v.other = s.of.fixed.other
	args, ok := s.of.arguments(v)
	if !ok {
		args = s.Args
	}
	o := make(object)
	for _, d := range s.Data {
		if d.Field.Result && d.Has == Same {
			o.place(d.Field.Path, s.of.b.literal(v, &d))
		}
	}
	return args, o.text()
}
