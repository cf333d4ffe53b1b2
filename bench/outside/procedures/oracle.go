package main

import (
	"encoding/json"
	"reflect"
	"slices"
)

// An oracle decides on calls by evaluating the procedures directly. It records the permitted calls,
// because later decisions depend on them.
type oracle struct {
	domain domain
	called map[string][]map[string]any
}

// permits reports whether all calls that must precede the function have been made.
func (o *oracle) permits(function string, args map[string]any) bool {
	p := o.domain[function]
	values := make(map[string]any, len(p.Vars))
	for name, variable := range p.Vars {
		values[variable] = args[name]
	}
	return o.holds(p.Needs, values)
}

// holds reports whether the calls recorded so far satisfy the condition t, given the values of its
// variables. A missing value (see [isMissing]) matches any argument.
func (o *oracle) holds(t *tree, values map[string]any) bool {
	switch {
	case t == nil:
		return true
	case t.Op == "and":
		return !slices.ContainsFunc(t.Kids, func(k *tree) bool { return !o.holds(k, values) })
	case t.Op == "or":
		return slices.ContainsFunc(t.Kids, func(k *tree) bool { return o.holds(k, values) })
	}
	return slices.ContainsFunc(o.called[t.Function], func(args map[string]any) bool {
		for name, variable := range t.Vars {
			if want := values[variable]; !isMissing(want) && !reflect.DeepEqual(want, args[name]) {
				return false
			}
		}
		return true
	})
}

// isMissing reports whether the benchmark treats v as a missing value, because v is null, false,
// zero or empty.
func isMissing(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case json.Number:
		return v == "0"
	case bool:
		return !v
	}
	return reflect.ValueOf(v).Len() == 0
}

// add records a call that the procedures permit.
func (o *oracle) add(function string, args map[string]any) {
	if o.called == nil {
		o.called = make(map[string][]map[string]any)
	}
	o.called[function] = append(o.called[function], args)
}
