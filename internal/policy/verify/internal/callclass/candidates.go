package callclass

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
)

// candidates yields key values to try when searching for arguments of a class's calls. It yields
// the default values first. Then, for one field at a time, it yields the content of the call's
// argument, constants from conditions, and the results of the field's expression for sample
// arguments.
func (w *recipe) candidates() func(yield func(Values) bool) {
	return func(yield func(Values) bool) {
		if !yield(Values{}) || len(w.data) == 0 {
			return
		}
		for i := range w.data {
			d := &w.data[i]
			for _, l := range w.valuesToTry(d) {
				one := map[int]literal{d.sort: l}
				if d.Has == Other && !yield(Values{other: one}) || d.Has == Same && !yield(Values{same: one}) {
					return
				}
			}
		}
	}
}

// valuesToTry returns the values to try for field d after its default value.
func (w *recipe) valuesToTry(d *Datum) (all []literal) {
	if v := w.form.value(d.Field.Path); v != nil && d.Field.Path != "" && len(v.texts) > 0 {
		all = append(all, quoteJSON(v.texts[0]))
	}
	if c := w.b.conditionsOf(w.form.tools); c != nil {
		for _, m := range c.maps {
			for _, l := range literals(m.Source) {
				if text, ok := l.(string); ok {
					all = append(all, quoteJSON(text))
				}
			}
		}
	}
	if d.Field.Reader == nil || d.Has == Lacks {
		return all
	}
	made := w.evaluate(d)
	if d.Has == Other { // try the first result last, because it might be the tracked value, which the field must not have
		slices.Reverse(made)
	}
	return append(all, made...)
}

// maxEvaluated is the maximum number of values that are tried per expression.
const maxEvaluated = 4

// evaluate returns up to maxEvaluated results of d's expression. It tries arguments with the
// members that the expression mentions.
func (w *recipe) evaluate(d *Datum) (values []literal) {
	texts := w.b.sorts[d.sort].texts
	for _, m := range samples([]string{w.b.sourceOf(d.Field)}, nil, texts[0], texts[1], []any{texts[0]}) {
		if l, ok := w.valueOf(d, object(m).text()); ok && !strings.HasPrefix(string(l.element()), "[") {
			values = list.Add(values, l.element())
		}
		if len(values) == maxEvaluated {
			break
		}
	}
	return values
}

// valueOf evaluates d's expression for the arguments. ok is false if the expression yields no value
// or null.
func (w *recipe) valueOf(d *Datum, args string) (l literal, ok bool) {
	value, ok := d.Field.Reader.Value(&gate.Call{Tool: w.form.tools[0].Text, Args: []byte(args)}, d.Field.Number)
	return literal(value), ok && string(value) != "null"
}

// samples returns sample arguments that might make the expressions yield the values in v. They set
// the members that the expressions mention to these values and to others. samples omits arguments
// that might give the call an additional name.
func (w *recipe) samples(v Values, expressions []Datum) []map[string]any {
	var sources []string
	var values []any
	for _, d := range expressions {
		sources = append(sources, w.b.sourceOf(d.Field))
		l := w.b.literal(v, &d)
		values = append(values, l, []any{l}, w.b.sorts[d.sort].texts[0])
	}
	return slices.DeleteFunc(samples(sources, nil, values...), w.mayAddName)
}

// mayAddName reports whether arguments with these members might give the call an additional name.
func (w *recipe) mayAddName(members map[string]any) bool {
	return slices.ContainsFunc(w.b.fields(w.form.tools), func(field string) bool {
		v, there := members[keysOf(field)[0]]
		if !there || w.form.value(field) != nil {
			return false
		}
		return field == "action" || slices.ContainsFunc(leaves(v), func(l literal) bool { return w.mayMatchMap(field, l) })
	})
}

// leaves returns v and all values nested in it, as JSON literals.
func leaves(v any) []literal {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // cannot happen: v was decoded from JSON
	}
	all := []literal{literal(text)}
	switch v := v.(type) {
	case map[string]any:
		for _, inner := range v {
			all = append(all, leaves(inner)...)
		}
	case []any:
		all = append(all, list.FlatMap(v, leaves)...)
	}
	return all
}

// read reports whether each expression has the required result for the given arguments. The
// required result is the expression's value in v. If the [Presence] is [Lacks], the expression must
// have no value.
func (w *recipe) read(args string, v Values, expressions []Datum) bool {
	if args == "" {
		args = "{}"
	}
	return !slices.ContainsFunc(expressions, func(d Datum) bool {
		l, ok := w.valueOf(&d, args)
		if d.Has == Lacks {
			return ok
		}
		return !ok || !same(l.element(), w.b.literal(v, &d))
	})
}
