package callclass

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
)

// A recipe describes how to build the arguments of a class.
type recipe struct {
	b        *Enumerator
	form     *form
	data     presences
	sums     []sum
	maySpend bool   // sums may increase
	fixed    Values // values that the form fixes
}

type presences []Datum

// lack reports whether keys read the field and must find nothing there.
func (p presences) lack(field string) bool {
	return slices.ContainsFunc(p, func(d Datum) bool { return d.Has == Lacks && !d.Field.Result && d.Field.Path == field })
}

// filled reports whether the members fill a field where keys must find nothing.
func (p presences) filled(members map[string]any) bool {
	return slices.ContainsFunc(p, func(d Datum) bool {
		if d.Has != Lacks || d.Field.Result || d.Field.Path == "" {
			return false
		}
		_, there := members[keysOf(d.Field.Path)[0]]
		return there
	})
}

// permits reports whether the content of the form's fields permits what keys must find there: a
// string is always a value.
func (f *form) permits(data []Datum) bool {
	return !slices.ContainsFunc(data, func(d Datum) bool {
		v := f.value(d.Field.Path)
		return d.Has == Lacks && !d.Field.Result && d.Field.Path != "" && v != nil && !v.weak
	})
}

// Values are the concrete values of a run for the tracked value and the other value, by sort.
type Values struct {
	same, other map[int]literal
}

// A literal is a JSON value in its textual form.
type literal string

// MarshalJSON returns the literal.
func (l literal) MarshalJSON() ([]byte, error) { return []byte(l), nil }

// quoted returns the literal of a string.
func quoted(text string) literal {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // cannot happen for a string
	}
	return literal(b)
}

// literal returns the value of the field; for another value, one that differs from the tracked
// value.
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

// Values returns the values that the class's arguments were built with.
func (s *Class) Values() Values {
	if s.of == nil {
		return Values{}
	}
	return s.of.fixed
}

// HasValues reports whether the arguments of the class have these values where they have the
// tracked value. Maps may match one value and not another, so calls with different values do not
// belong to one value, even if each alone could have it.
func (s *Class) HasValues(v Values) bool {
	return s.of == nil || !slices.ContainsFunc(s.Data, func(d Datum) bool {
		return d.Has == Same && s.of.b.literal(v, &d) != s.of.b.literal(s.of.fixed, &d)
	})
}

// RecordKey records the values of a key of the net, for sorts without a value so far.
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

// KeyText returns the text that identifies the values in the state of a net; ok is false if the
// values are unknown.
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

// maxKeyText is the length above which the state of a net uses a hash instead of the text.
const maxKeyText = 200

// findWitness searches arguments for the class, preferring those that add nothing to sums. The
// class is doubtful if none are found.
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

// arguments returns the JSON of a call with these values; known is false if none was found.
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

// matched reports whether a map matches the value although the form does not say so.
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

// Free reports whether calls of the class can have arbitrary values in the fields that keys read,
// because nothing else is known to read them.
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

// maxCompletions bounds the combinations of members tried for conditions and expressions.
const maxCompletions = 2048

// complete adds members until the conditions of the tool and the expressions have the required
// results.
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

// written returns the source of the expression as some net states it.
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

// place sets the content that a field reads; it reports false if something else is there.
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
				return same(old, value) || same(old, []any{value}) // the single element of a list has the value as well
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

// same reports whether both values have the same JSON form.
func same(a, b any) bool {
	x, err := json.Marshal(a)
	y, other := json.Marshal(b)
	return err == nil && other == nil && string(x) == string(y)
}

// Common returns values that all of the classes can have, as far as one value for each sort
// suffices.
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

// Filled returns the arguments and the result of a call of the class with the values.
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
