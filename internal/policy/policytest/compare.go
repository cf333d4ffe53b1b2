package policytest

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// A Difference is a mismatch between an answer and the expected answer.
type Difference struct {
	Line      int    // line number of the case, starting at 1
	Name      string // name of the case
	Path      string // path to the first mismatch, such as decisions[3].kind
	Got, Want string // the actual and the expected value, in JSON
}

// String returns the difference on one line.
func (d Difference) String() string {
	return fmt.Sprintf("line %d: %s: %s is %s, expected %s", d.Line, d.Name, d.Path, d.Got, d.Want)
}

// compare returns the first mismatch between an answer and the expected answer, or nil if they
// match. For errors, it compares only the line and the net. The answer may contain additional keys.
func compare(answer []byte, expect json.RawMessage) *Difference {
	if expect == nil {
		return nil
	}
	var got, want map[string]any
	if err := json.Unmarshal(expect, &want); err != nil {
		return &Difference{Path: "expect", Got: string(expect), Want: "an object"}
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		panic(err) // cannot happen: the answer was encoded by this package
	}
	for _, key := range []string{"errors", "nets", "decisions", "final"} {
		g, w := got[key], want[key]
		if key == "errors" {
			g, w = places(g), places(w)
		}
		if d := differ(key, g, w); d != nil {
			return d
		}
	}
	return nil
}

// places returns only the line and the net of each error. compare ignores all other keys.
func places(errs any) any {
	list, ok := errs.([]any)
	if !ok {
		return errs
	}
	out := make([]any, len(list))
	for i := range list {
		e, _ := list[i].(map[string]any)
		place := map[string]any{"line": e["line"]}
		if net, ok := e["net"]; ok {
			place["net"] = net
		}
		out[i] = place
	}
	return out
}

// differ returns the first mismatch between two values, or nil if they match. It compares lists
// element by element, and objects only by the expected keys. Everything else, including markings,
// must match exactly.
func differ(path string, got, want any) *Difference {
	switch w := want.(type) {
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return difference(path, got, want)
		}
		for i := range w {
			if d := differ(fmt.Sprintf("%s[%d]", path, i), g[i], w[i]); d != nil {
				return d
			}
		}
		return nil
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return difference(path, got, want)
		}
		return differKeys(path, g, w)
	}
	if !reflect.DeepEqual(got, want) {
		return difference(path, got, want)
	}
	return nil
}

func differKeys(path string, got, want map[string]any) *Difference {
	for _, key := range slices.Sorted(maps.Keys(want)) { // sorted, for a deterministic result
		w := want[key]
		if key == "marking" && !reflect.DeepEqual(got[key], w) {
			return difference(path+"."+key, got[key], w)
		}
		if d := differ(path+"."+key, got[key], w); d != nil {
			return d
		}
	}
	return nil
}

func difference(path string, got, want any) *Difference {
	return &Difference{Path: path, Got: jsonText(got), Want: jsonText(want)}
}

func jsonText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // cannot happen: the value was decoded from JSON
	}
	return string(b)
}
