package verify_test

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// forValues returns a watcher that judges runs with respect to a claim about each of the values
// separately. A value has one text for each field of the key.
func forValues(e verify.ForEach, values ...[]string) *watcher {
	var all []*watcher
	for _, v := range values {
		all = append(all, watcherWith(e.Of, func(c gate.Call, names []gate.Name, t gate.Tool, evidence bool) bool {
			return carried(c, names, t, evidence) && counts(e, c, t, evidence, v)
		}))
	}
	return together(all)
}

// counts reports whether the call counts as a call with the given name for the given value.
func counts(e verify.ForEach, c gate.Call, t gate.Tool, evidence bool, value []string) bool {
	about := !evidence
	most, counted := e.Of.(verify.AtMost)
	if counted {
		about = slices.Contains(most.Tools, t)
	}
	for i, k := range e.Key {
		if !about {
			if !slices.Contains(valuesIn(k.Other, c), value[i]) {
				return false
			}
			continue
		}
		has := valuesIn(k.Field, c)
		if !slices.Contains(has, value[i]) && (counted || len(has) > 0) { // a call without a value does not precede calls with any value
			return false
		}
	}
	return true
}

// valuesIn returns the texts in a field of the call. If the field is a list, it returns the
// elements.
func valuesIn(f gate.Field, c gate.Call) (texts []string) {
	var v any
	if f.Reader != nil {
		text, ok := f.Reader.Value(&c, f.Number)
		if !ok || json.Unmarshal(text, &v) != nil {
			return nil
		}
	} else {
		if json.Unmarshal(c.Args, &v) != nil {
			return nil
		}
		for _, step := range strings.Split(strings.TrimPrefix(f.Path, "$."), ".") {
			object, _ := v.(map[string]any)
			v = object[step]
		}
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, v := range list {
		if text, ok := v.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// together returns a watcher that judges runs for all values together.
func together(all []*watcher) *watcher {
	each := func(states string, do func(w *watcher, state string) string) string {
		old := strings.Split(states, "|")
		for i, w := range all {
			if i == len(old) {
				old = append(old, "")
			}
			old[i] = do(w, old[i])
		}
		return strings.Join(old, "|")
	}
	out := &watcher{begin: func(s string, c gate.Call, names []gate.Name, asked []gate.Step) (next string, broken bool) {
		next = each(s, func(w *watcher, state string) string {
			state, hit := w.begin(state, c, names, asked)
			broken = broken || hit
			return state
		})
		return next, broken
	}}
	if all[0].end != nil {
		out.end = func(s string, c gate.Call, names []gate.Name, o gate.Outcome) string {
			return each(s, func(w *watcher, state string) string { return w.end(state, c, names, o) })
		}
	}
	if all[0].tick != nil {
		out.tick = func(s string, d time.Duration) string {
			return each(s, func(w *watcher, state string) string { return w.tick(state, d) })
		}
	}
	return out
}
