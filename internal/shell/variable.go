package shell

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// variables records the known facts about a script's variables. In arithmetic, bash evaluates the
// *value* of a variable as an expression, and runs commands in its array indices: x='a[$(rm y)]';
// echo $((x)). A value that declare or a similar builtin assigns to an array is expanded again:
// declare -a x='($(rm y))'.
type variables struct {
	facts        map[string]fact
	wild         bool  // any variable may get any value
	commandIndex bool  // some text has an array index with a command in it
	tests        bool  // test or [ has an operand that is not literal
	made         bool  // make gets a value that is not literal
	shells       bool  // some text may call a make function
	given        bool  // the current command gets a variable that is not known to be inert
	exported     bool  // all later programs get such a variable
	allexport    bool  // set -a exports all variables
	passed       []arg // values of exported variables

	values                   // in the current shell
	expanded            int  // bytes of all expansions so far
	forwardingFunctions set  // functions that use their arguments
	visited             int  // nodes visited by effectsOf so far
	unknowable          set  // variables whose value cannot be known
	fixed               set  // variables that may be read-only
	customIFS           bool // expansions may be split at characters other than blanks
	resets              bool // a trap may set the arguments of functions
	unbound             bool // no value is certain any more: a function, a sourced file or a builtin may set variables
}

// A fact is a set of properties of a variable.
type fact uint8

const (
	free     fact = 1 << iota // may hold something other than a number
	computed                  // is evaluated in arithmetic
	isArray                   // is an array
	filled                    // declare assigns a value that is not literal
)

// note adds the fact f about the variable called name.
func (v *variables) note(name string, f fact) {
	if v.facts == nil {
		v.facts = make(map[string]fact)
	}
	v.facts[name] |= f
}

// hasCommandIndex reports whether text may have an array index with a command in it.
func hasCommandIndex(text string) bool {
	return strings.Contains(text, "[") && (strings.Contains(text, "$(") || strings.Contains(text, "`") || strings.Contains(text, "${"))
}

// setArguments sets the arguments of a function, or makes them unknown.
func (v *variables) setArguments(list []arg, known bool) {
	v.unbind("@")
	v.unbind("*")
	for i := range 9 {
		v.unbind(strconv.Itoa(i + 1))
	}
	if !known {
		return
	}
	v.bindArray("@", list)
	if v.customIFS {
		return
	}
	joined := make([]string, 0, len(list))
	for i, a := range list {
		if a.kind > single {
			break // the positions of the following arguments are unknown
		}
		if i < 9 {
			v.bind(strconv.Itoa(i+1), a)
		}
		if a.kind == literal {
			joined = append(joined, a.text)
		}
	}
	if len(joined) == len(list) {
		v.bind("*", arg{text: strings.Join(joined, " ")})
	}
}

// mayBind reports whether the variable called name keeps the value that the script assigns to it.
func (v *variables) mayBind(name string) bool {
	return !v.unbound && !v.wild && !v.unknowable[name] && isName(name) && !implicitVariables[name] && !counters[name] && !begins(name, "BASH") && !ownVariables[name] && !steers(name)
}

// neverBind makes the value of the variable called name unknown for the rest of the script.
func (v *variables) neverBind(name string) {
	v.unbind(name)
	v.unknowable.add(name)
}

// valueOf returns the value of p if it is known and one word.
func (v *variables) valueOf(p *syntax.ParamExp, quoted bool) (value arg, ok bool) {
	if len(v.texts) == 0 || !isPlain(p) || p.Index != nil {
		return arg{}, false
	}
	value, ok = v.texts[p.Param.Value]
	if v.expanded += value.size(); v.expanded > maxExpanded {
		return arg{}, false
	}
	if value.name && value.kind == single && value.text == "" && value.tail == "" {
		return value, ok
	}
	if !ok || !quoted && (value.kind != literal || value.text == "" || p.Param.Value == "*" || strings.ContainsAny(value.text, " \t\n*?[\\~")) {
		return arg{}, false
	}
	return value, value.kind <= single
}

// elements returns the expansion of a word that consists of "${x[@]}", "$@" or "${@:2}" alone, if
// it is known. Outside quotes, the elements must be words that no shell splits.
func (v *variables) elements(w *syntax.Word) (list []arg, ok bool) {
	p, quoted := onlyExpansion(w)
	if p == nil || !isSlice(p) {
		return nil, false
	}
	if p.Param.Value == "@" {
		list, ok = v.arrays["@"]
		list, ok = sliced(p, list, ok && p.Index == nil)
	} else if p.Slice == nil && isLit(p.Index, "@") {
		list, ok = v.arrays[p.Param.Value]
	}
	for _, a := range list {
		if !quoted && (v.customIFS || a.kind != literal || a.text == "" || strings.Trim(a.text, plainLetters) != "") {
			return nil, false
		}
	}
	v.expanded += sizes(list)
	return list, ok && v.expanded <= maxExpanded
}

// commands returns the possible expansions of a command word that consists of $x alone, one list of
// words for each possible value of x, or nil if they are unknown. Without quotes, plain text is
// split at blanks; zsh does not split it, and then finds no program of that name. No value may be a
// builtin, because builtins affect the shell that runs them.
func (v *variables) commands(w *syntax.Word) (lists [][]arg) {
	p, quoted := onlyExpansion(w)
	if p == nil || !isPlain(p) || p.Index != nil || p.Param.Value == "*" {
		return nil
	}
	values := v.alternatives(p.Param.Value)
	for _, text := range values {
		words := strings.Fields(text)
		switch {
		case len(words) == 0 && !quoted: // the following words are the command
		case len(words) == 0, len(words) > maxElements, shellWords[words[0]], strings.Trim(text, plainLetters+" ") != "",
			len(words) > 1 && (quoted || v.customIFS):
			return nil
		}
		lists = append(lists, literals(words))
	}
	if len(lists) == 1 && len(lists[0]) == 1 {
		return nil // treated like any other value
	}
	for _, list := range lists {
		if v.expanded += sizes(list); v.expanded > maxExpanded {
			return nil
		}
	}
	return lists
}

// assign sets a variable's value after an assignment. before has the array's previous elements, if
// known, and held the values that the variable may have had. straight means that the assignment
// certainly runs, exactly once.
func (v *variables) assign(a *syntax.Assign, value arg, elements, before []arg, known bool, held []string, straight bool) {
	name := a.Name.Value
	indexed := a.Array != nil && slices.ContainsFunc(a.Array.Elems, func(e *syntax.ArrayElem) bool { return e.Index != nil })
	switch {
	case v.fixed[name], indexed:
	case a.Array == nil && !a.Append && straight && value.kind <= single:
		v.bind(name, value)
	case a.Array == nil && !a.Append && len(held) > 0 && len(held) < maxAlternatives && value.kind == literal: // it is uncertain whether the assignment runs, so both values are possible
		v.bindEither(name, append(held[:len(held):len(held)], value.text))
	case a.Array == nil || len(elements)+len(before) > maxElements:
	case straight && !a.Append:
		v.bindArray(name, elements)
	case straight && known:
		v.bindArray(name, slices.Concat(before, elements))
	case known && a.Append && len(before) > 0: // it is uncertain whether the assignment runs, so the added elements are unknown
		v.bindArray(name, slices.Concat(before, []arg{{kind: anything}}))
	}
}

// attributes handles the attributes that declare and similar builtins give to variables. A variable
// with an attribute may change the assigned value or keep its old one.
func (v *variables) attributes(d *syntax.DeclClause) {
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
			v.neverBind(a.Name.Value)
		case readOnly:
			v.fixed.add(a.Name.Value)
		}
	}
}
