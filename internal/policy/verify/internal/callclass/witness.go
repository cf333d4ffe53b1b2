package callclass

import (
	"maps"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
)

// Values returns the values used to build the class's arguments.
func (s *Class) Values() Values {
	if s.of == nil {
		return Values{}
	}
	return s.of.fixed
}

// HasValues reports whether the known arguments of class s contain the values v in all fields that
// must have the tracked value. If not, a call with the values v might be impossible, because map
// statements can match one value but not another.
func (s *Class) HasValues(v Values) bool {
	return s.of == nil || !slices.ContainsFunc(s.Data, func(d Datum) bool {
		return d.Has == Same && s.of.b.literal(v, &d) != s.of.b.literal(s.of.fixed, &d)
	})
}

// RecordKey adds the values of the net's given key to v. If v already has a value for a [sort],
// RecordKey keeps it.
func (b *fieldTable) RecordKey(v *Values, net int, key []gate.KeyValue) {
	if v.same == nil {
		v.same = make(map[int]literal)
	}
	n := b.nets[net]
	for t := range n.Info.Transitions {
		fields := n.keyFields(t)
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

// KeyText returns the text that identifies the values v in the net's state. ok is false if some
// value is unknown or the text is too long.
func (b *fieldTable) KeyText(v Values, net int) (text string, ok bool) {
	n := b.nets[net]
	for t := range n.Info.Transitions {
		var parts []string
		for _, f := range n.keyFields(t) {
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

// maxKeyText is the maximum length of a key text. If the text is longer, the net's state uses a
// hash instead.
const maxKeyText = 200

// findWitness searches for arguments of class s, preferring those that increase no sum. If it finds
// no arguments, the class is doubtful.
func (b *Enumerator) findWitness(s *Class, f *form) {
	w := &recipe{b: b, form: f, data: s.Data, sums: b.sums(s)}
	s.of, s.Doubtful = w, true
	for _, w.maySpend = range []bool{false, true} {
		for v := range w.candidates() {
			if args, ok := w.arguments(v); ok {
				w.fixed = v
				s.Args, s.Doubtful, s.AddsToSum = args, b.entangled(f), w.maySpend
				return
			}
		}
		if len(w.sums) == 0 {
			return
		}
	}
	b.addRefusals(s, w)
}

// arguments returns JSON arguments of a call with the values v. known is false if none were found.
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
		case d.Has != Lacks && (w.mayMatchMap(d.Field.Path, w.b.literal(v, &d)) || !o.place(d.Field.Path, w.b.literal(v, &d))):
			return "", false
		}
	}
	return w.complete(o, v, expressions)
}

// Free reports whether the fields that keys read can have any values in calls of class s, apart
// from values that further map statements match. It returns false if an expression computes a key.
// It also returns false if a condition or a matching map statement might read the same fields.
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

// maxCompletions is the maximum number of combinations of members tried for conditions and
// expressions.
const maxCompletions = 2048

// complete adds members to o until the tool's conditions and the expressions yield the required
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
	if sources := w.sumSources(); len(sources) > 0 {
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
		with, ok := o.merge(m)
		if !ok {
			continue
		}
		for _, s := range conditions {
			if tries++; tries > maxCompletions {
				return "", false
			}
			if w.data.setsLacking(m) || w.data.setsLacking(s) {
				continue
			}
			if merged, ok := with.merge(s); ok {
				if text, ok := says(merged); ok {
					return text, true
				}
			}
		}
	}
	return "", false
}

// CommonValues looks for key values that calls of all the classes can have. If it finds no such
// values, it returns values that are impossible for some classes. Call [Class.Takes] to check.
func CommonValues(classes []*Class) Values {
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

// Takes reports whether a call of class s can have the values v.
func (s *Class) Takes(v Values) bool {
	if s.of == nil || len(s.Data) == 0 {
		return true
	}
	v.other = s.of.fixed.other
	_, ok := s.of.arguments(v)
	return ok
}

// Fill returns the arguments and the result of a call of class s with the values v.
func (s *Class) Fill(v Values) (args, result string) {
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

// objectOf returns an object with the fields of the form f. It stores numbers that sums read as
// JSON numbers. If keys must be unable to read a value, it wraps the value in an object. The second
// result is false if a value is abstract or a field does not fit into the object.
func objectOf(f *form, data presences, sums []sum) (object, bool) {
	o := make(object)
	for _, v := range f.fields {
		var content any
		switch {
		case v.field == "":
			continue
		case v.texts == nil:
			return nil, false
		case !v.weak:
			content = v.texts[0]
		case len(v.texts) == 1:
			if content = v.texts; isNumber(v.texts[0]) && sumsField(sums, v.field) {
				content = literal(v.texts[0])
			}
		default:
			content = v.texts[:len(v.texts)-1]
		}
		if data.mustLack(v.field) {
			content = map[string]any{"value": content} // a field that contains an object has no value for a key
		}
		if !put(o, v.field, content) {
			return nil, false
		}
	}
	return o, true
}
