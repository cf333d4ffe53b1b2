package shell

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// assign interprets an assignment of the form name=value, name[index]=value or name=(...), and
// returns the value. If straight is true, the assignment is certain to run exactly once.
func (r *expander) assign(a *syntax.Assign, straight bool) (value arg) {
	if a.Index != nil {
		r.arithm(a.Index)
	}
	var elements []arg
	switch {
	case a.Array != nil:
		value, elements = r.array(a.Array)
	case a.Value != nil:
		value = r.value(a.Value)
	case a.Naked:
		return value
	}
	if a.Append && !isInteger(value) {
		value = arg{kind: anything}
	}
	if a.Name == nil {
		return value
	}
	name, toArray := a.Name.Value, a.Array != nil || a.Index != nil
	if toArray {
		r.vars.note(name, isArray)
	}
	if zshArrays[name] && (toArray || a.Append) {
		r.doubtAll("a variable that changes what zsh runs: " + name)
	}
	before, known := r.vars.arrays[name]
	held := r.vars.alternatives(name)
	r.assigned(name, value)
	if a.Index == nil && r.vars.mayBind(name) {
		r.vars.assign(a, value, elements, before, known, held, straight)
	}
	return value
}

// value interprets the value of an assignment. Unlike an argument, the value is not split into
// words. If the value is a number that is known only when the script runs, such as $((n+1)) or $?,
// the result is the literal 0.
func (r *expander) value(w *syntax.Word) arg {
	if p, _ := onlyExpansion(w); p != nil {
		if a, ok := r.vars.valueOf(p, true); ok {
			return a
		}
	}
	a := r.word(w)
	if len(w.Parts) == 1 {
		switch p := w.Parts[0].(type) {
		case *syntax.ArithmExp:
			return arg{text: "0"}
		case *syntax.ParamExp:
			if p.Length || isNumber(p.Param.Value) {
				return arg{text: "0"}
			}
		}
	}
	return a
}

// array reads the value of an array assignment, (...). Its elements are expanded like the words of
// a command.
func (r *expander) array(x *syntax.ArrayExpr) (value arg, elements []arg) {
	for _, e := range x.Elems {
		if e.Index != nil {
			r.arithm(e.Index)
		}
		if e.Value == nil {
			continue
		}
		at := len(elements)
		elements = r.expand(elements, e.Value)
		if slices.ContainsFunc(elements[at:], func(a arg) bool { return !isInteger(a) }) {
			value = arg{kind: anything}
		}
	}
	return value, elements
}
