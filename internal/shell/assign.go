package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// assign reads name=value, name[index]=value and name=(...), and returns the value.
func (r *reader) assign(a *syntax.Assign) (value arg) {
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
	if a.Name != nil && (a.Array != nil || a.Index != nil) {
		r.vars.note(a.Name.Value, isArray)
	}
	if a.Name != nil && zshArrays[a.Name.Value] && (a.Array != nil || a.Index != nil || a.Append) {
		r.doubtAll("a variable that changes what zsh runs: " + a.Name.Value)
	}
	if a.Name != nil {
		before, known := r.vars.arrays[a.Name.Value]
		held := r.vars.alternatives(a.Name.Value)
		r.assigned(a.Name.Value, value)
		if a.Index == nil && r.vars.mayBind(a.Name.Value) {
			assignValue(r, a, value, elements, before, known, held)
		}
	}
	return value
}

// assignValue sets the value of a variable after an assignment. before has the elements that the
// array had, if known, and held the values that the variable may have had.
func assignValue(r *reader, a *syntax.Assign, value arg, elements, before []arg, known bool, held []string) {
	name, straight := a.Name.Value, r.flow.runsOnce()
	indexed := a.Array != nil && slices.ContainsFunc(a.Array.Elems, func(e *syntax.ArrayElem) bool { return e.Index != nil })
	switch {
	case r.vars.fixed[name], indexed:
	case a.Array == nil && !a.Append && straight && value.kind <= single:
		r.vars.bind(name, value)
	case a.Array == nil && !a.Append && len(held) > 0 && len(held) < maxAlternatives && value.kind == literal: // it is uncertain that the assignment runs, so both values are possible
		r.vars.bindEither(name, append(held[:len(held):len(held)], value.text))
	case a.Array == nil || len(elements)+len(before) > maxElements:
	case straight && !a.Append:
		r.vars.bindArray(name, elements)
	case straight && known:
		r.vars.bindArray(name, slices.Concat(before, elements))
	case known && a.Append && len(before) > 0: // it is uncertain that the assignment runs, so the added elements are unknown
		r.vars.bindArray(name, slices.Concat(before, []arg{{kind: anything}}))
	}
}

// value reads the value of an assignment, which no shell splits. It returns 0 for any value that is
// certainly a number.
func (r *reader) value(w *syntax.Word) arg {
	if p, _ := onlyExpansion(w); p != nil { // the value is not split
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

// array reads (...), whose elements are expanded like the words of a command.
func (r *reader) array(x *syntax.ArrayExpr) (value arg, elements []arg) {
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

// declare reads declare, local, export, readonly and typeset.
func (r *reader) declare(d *syntax.DeclClause) {
	var args, assigned []arg
	for _, a := range d.Args {
		switch {
		case !a.Naked:
			value := r.assign(a)
			if d.Variant.Value == "local" && a.Name != nil {
				r.vars.unbind(a.Name.Value) // outside a function it fails and sets nothing
			}
			if a.Array == nil && a.Name != nil {
				assigned = append(assigned, arg{kind: value.kind, text: a.Name.Value + "=" + value.text, tail: value.tail})
				r.given(a.Name.Value, value)
			}
		case a.Value != nil:
			args = r.expand(args, a.Value)
		case a.Name != nil && a.Index == nil:
			args = append(args, arg{text: a.Name.Value})
		default:
			r.doubtAll("a declaration of an element")
		}
	}
	c := command{name: d.Variant.Value, args: append(args[:len(args):len(args)], assigned...), by: r.owner, masking: r.flow.masking}
	c.from, c.to = r.span()
	r.commands = append(r.commands, c)
	r.declareArgs(d.Variant.Value, assigned, args)
	attributes(r, d)
}

// attributes handles the attributes that declare and similar builtins give to variables. A variable
// with an attribute may change the assigned value or keep its old one.
func attributes(r *reader, d *syntax.DeclClause) {
	readOnly, strange, array := d.Variant.Value == "readonly", false, false
	for _, a := range d.Args {
		if a.Name != nil || a.Value == nil {
			continue
		}
		option := a.Value.Lit()
		readOnly = readOnly || strings.HasPrefix(option, "-") && strings.Contains(option, "r")
		array = array || strings.Contains(option, "a")
		strange = strange || strings.Trim(option, "-xgpra") != "" || option == ""
	}
	for _, a := range d.Args {
		switch {
		case a.Name == nil:
		case strange, array && a.Array == nil && !a.Naked:
			r.vars.neverBind(a.Name.Value)
		case readOnly:
			r.vars.fixed.add(a.Name.Value)
		}
	}
}

// declareArgs reads the assignments and the other arguments of declare and similar builtins.
func (r *reader) declareArgs(builtin string, assigned, args []arg) {
	var kind fact // isArray if the builtin declares arrays
	exported, functions := builtin == "export", false
	for _, a := range args {
		if strings.HasPrefix(a.text, "-") {
			if strings.ContainsAny(a.text, "aA") {
				kind = isArray
			}
			exported = exported || strings.Contains(a.text, "x")
			functions = functions || strings.Contains(a.text, "f")
		}
		r.declareArg(a)
	}
	for _, a := range append(assigned, args...) {
		r.compound(a, kind)
	}
	for _, a := range args {
		if name, value, _ := strings.Cut(a.text, "="); !strings.HasPrefix(a.text, "-") {
			r.given(name, arg{kind: max(a.kind, single), text: value})
		}
	}
	if !functions {
		r.vars.exported, r.vars.given = r.vars.exported || exported && r.vars.given, false
	}
}

// declareArg reads an argument of declare or a similar builtin that is not a plain assignment.
func (r *reader) declareArg(a arg) {
	name, value, ok := strings.Cut(a.text, "=")
	name = strings.TrimSuffix(name, "+")
	switch {
	case a.kind == literal && strings.HasPrefix(a.text, "-"):
		if strings.ContainsAny(a.text, "inI") {
			r.doubtAll("a variable whose values are evaluated")
		}
	case a.kind == literal && strings.HasPrefix(a.text, "+"):
	case a.kind != literal && !ok:
		r.doubtAll("a declaration that is not literal")
	case !isName(name):
		r.doubtAll("a declaration of an element")
	case a.kind != literal:
		r.assigned(name, arg{kind: anything})
	case ok:
		r.assigned(name, arg{text: value})
	}
}

// compound reads an argument whose value may be the elements of an array.
func (r *reader) compound(a arg, kind fact) {
	name, value, ok := strings.Cut(a.text, "=")
	name = strings.TrimSuffix(name, "+")
	switch {
	case !ok:
		r.vars.note(name, kind)
	case strings.HasPrefix(value, "("):
		if a.kind != literal || strings.ContainsAny(value, "$`<>") {
			r.arrayOf("an array that is read from text")
		}
	case a.kind != literal && value == "":
		r.vars.note(name, kind|filled)
	}
}

// setUnknown makes the values of the variables named by args unknown.
func (r *reader) setUnknown(args []arg) {
	for _, a := range args {
		if a.kind != literal || !isName(a.text) {
			r.arithmeticOn("a variable whose name is not literal")
			r.vars.forgetAll()
			return
		}
		r.assigned(a.text, arg{kind: anything})
	}
}

// bindBranches records the variables that every branch of an if, including else, sets to a known
// text.
func bindBranches(r *reader, cmd syntax.Command) {
	c, ok := cmd.(*syntax.IfClause)
	held, branches := make(map[string][]string), 0
	for ; ok && c != nil; c = c.Else {
		branches++
		for name, text := range r.vars.assignedIn(c.Then) {
			held[name] = append(held[name], text)
		}
		if c.Else == nil && c.ThenPos.IsValid() {
			return // an if without else changes the variables only sometimes
		}
	}
	for name, texts := range held {
		if len(texts) == branches && branches <= maxAlternatives && r.vars.mayBind(name) && !r.vars.fixed[name] {
			r.vars.bindEither(name, texts)
		}
	}
}

// assigned records that a variable gets a value.
func (r *reader) assigned(name string, value arg) {
	r.vars.unbind(name)
	if name == "IFS" { // it is unknown how expansions are split
		r.vars.forgetAll()
		r.vars.unbound, r.vars.customIFS = true, true
	}
	if name == "argv" { // argv holds the arguments in zsh
		r.vars.setArguments(nil, false)
	}
	r.vars.commandIndex = r.vars.commandIndex || hasCommandIndex(value.text) || hasCommandIndex(value.tail)
	r.vars.shells = r.vars.shells || strings.Contains(value.text, "$")
	if r.vars.allexport && !isInertVariable(name, value) {
		r.vars.exported = true
		r.vars.passed = append(r.vars.passed, value)
	}
	switch {
	case runVariables[name] && value.kind == literal:
		r.tentativeScript(value.text)
	case resolutionVariables[name], strings.HasSuffix(name, "_functions"):
		r.sideEffects = true
		r.doubtAll("a variable that changes what is run: " + name)
	case steers(name) && !isInertSetting(name, value):
		r.sideEffects = true
		r.doubtStrict("a variable that changes what is run: " + name)
		r.mentions.add([]arg{value}, len(r.doubts)-1)
	}
	if isInteger(value) {
		return
	}
	r.vars.note(name, free)
	if counters[name] {
		r.arithmeticOn("arithmetic on text") // as in RANDOM='a[$(rm y)]'
	}
}

// compute records that arithmetic evaluates and may assign a variable.
func (r *reader) compute(name string) {
	if steers(name) {
		r.doubtStrict("a variable that changes what is run: " + name) // as in ((PATH=1))
	}
	r.vars.unbind(name)
	if name == "IFS" {
		r.assigned(name, arg{kind: anything})
	}
	r.vars.note(name, computed)
}

// tentativeScript reads a text as a script that a program may run.
func (r *reader) tentativeScript(text string) {
	defer func(before bool) { r.tentative = before }(r.tentative)
	defer otherShell(r)()
	r.flow.mask(started)
	r.tentative = true
	r.script(text)
}
