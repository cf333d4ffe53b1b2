package shell

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// variables holds the facts that are known about a script's variables. These matter because bash
// may run commands in the value of a variable. In arithmetic, bash evaluates the value as an
// expression and runs the commands in array indexes: x='a[$(rm y)]'; echo $((x)). If declare or a
// similar builtin assigns a value to an array, bash expands the value a second time: declare -a
// x='($(rm y))'.
type variables struct {
	facts        map[string]fact
	wild         bool  // whether any variable may have any value
	commandIndex bool  // whether an argument or a value may contain an array index with a command, as in a[$(rm x)]
	tests        bool  // whether test or [ has a non-literal operand
	made         bool  // whether make or a similar program gets a variable whose value is not literal
	shells       bool  // whether an assigned value may call a function of make, such as $(shell ...)
	given        bool  // whether a variable that might make a program run something is passed to the current command
	exported     bool  // whether a variable that might make a program run something is passed to all later programs
	allexport    bool  // whether set -a exports all variables
	passed       []arg // the values of variables that are passed to programs and might make them run something

	values                   // the values in the current shell
	expanded            int  // number of bytes in all expansions so far
	forwardingFunctions set  // the functions that use their arguments
	visited             int  // number of nodes visited by effectsOf so far
	unknowable          set  // the variables whose value is unknown for the rest of the script
	fixed               set  // the variables that may be read-only
	customIFS           bool // whether the shell may split expansions at characters other than blanks
	resets              bool // whether a trap may set the arguments of functions
	unbound             bool // whether the value of every variable is uncertain; set by a trap, by source, by an assignment to IFS, and by a function that may set any variable
}

// A fact is a bit set of known properties of a variable.
type fact uint8

const (
	free     fact = 1 << iota // the variable may have a non-numeric value
	computed                  // the variable is evaluated in arithmetic
	isArray                   // the variable is an array
	filled                    // the variable gets a non-literal value from declare or a similar builtin
)

// note adds f to the facts about a variable.
func (v *variables) note(name string, f fact) {
	put(&v.facts, name, v.facts[name]|f)
}

// hasCommandIndex reports whether text may have an array index that contains a command.
func hasCommandIndex(text string) bool {
	return strings.Contains(text, "[") && (strings.Contains(text, "$(") || strings.Contains(text, "`") || strings.Contains(text, "${"))
}

// setArguments sets a function's arguments or makes them unknown.
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

// mayBind reports whether a variable of this name certainly gets the value that the script assigns
// to it.
func (v *variables) mayBind(name string) bool {
	return !v.unbound && !v.wild && !v.unknowable[name] && isName(name) && !implicitVariables[name] && !counters[name] && !begins(name, "BASH") && !ownVariables[name] && !steers(name)
}

// neverBind makes the variable's value unknown for the rest of the script.
func (v *variables) neverBind(name string) {
	v.unbind(name)
	v.unknowable.add(name)
}

// valueOf returns the value of the variable in the expansion p. ok is false if the value is unknown
// or if p may expand to anything but a single word.
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

// elements returns the expansion of a word that consists only of "${x[@]}", "$@" or "${@:2}". ok is
// false if the expansion is unknown, or if it is unquoted and a shell could split its elements.
func (v *variables) elements(w *syntax.Word) (list []arg, ok bool) {
	p, quoted := onlyExpansion(w)
	if p == nil || !isSlice(p) {
		return nil, false
	}
	if p.Param.Value == "@" {
		list, ok = v.arrays["@"]
		list, ok = sliced(p, list, ok && p.Index == nil)
	} else if p.Slice == nil && lit(p.Index) == "@" {
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

// commands returns the possible expansions of a command word that consists only of $x: one list of
// words for each possible value of x. It returns nil if an expansion is uncertain, or if a value
// may be a builtin, because a builtin affects the shell itself. It also returns nil if the only
// value is a single word, which needs no special treatment. Unquoted values are split at blanks, as
// in bash. This is safe for zsh, which does not split them, because no program has a name with
// blanks.
func (v *variables) commands(w *syntax.Word) (lists [][]arg) {
	p, quoted := onlyExpansion(w)
	if p == nil || !isPlain(p) || p.Index != nil || p.Param.Value == "*" {
		return nil
	}
	values := v.alternatives(p.Param.Value)
	for _, text := range values {
		words := strings.Fields(text)
		switch {
		case len(words) == 0 && !quoted: // the word expands to nothing, so the next word names the command
		case len(words) == 0, len(words) > maxElements, shellWords[words[0]], strings.Trim(text, plainLetters+" ") != "",
			len(words) > 1 && (quoted || v.customIFS):
			return nil
		}
		lists = append(lists, literals(words))
	}
	if len(lists) == 1 && len(lists[0]) == 1 {
		return nil // a single value of one word needs no special treatment
	}
	for _, list := range lists {
		if v.expanded += sizes(list); v.expanded > maxExpanded {
			return nil
		}
	}
	return lists
}

// assign records an assignment to a variable. For an array, old holds the previous elements, and
// known tells whether they are certain. For any other variable, held lists the possible previous
// values. straight is true if the assignment certainly runs exactly once.
func (v *variables) assign(a *syntax.Assign, value arg, elements, old []arg, known bool, held []string, straight bool) {
	name := a.Name.Value
	indexed := a.Array != nil && slices.ContainsFunc(a.Array.Elems, func(e *syntax.ArrayElem) bool { return e.Index != nil })
	switch {
	case v.fixed[name], indexed:
	case a.Array == nil && !a.Append && straight && value.kind <= single:
		v.bind(name, value)
	case a.Array == nil && !a.Append && len(held) > 0 && len(held) < maxAlternatives && value.kind == literal: // the assignment might not run, so both the old and the new value are possible
		put(&v.either, name, append(held[:len(held):len(held)], value.text))
	case a.Array == nil || len(elements)+len(old) > maxElements:
	case straight && !a.Append:
		v.bindArray(name, elements)
	case straight && known:
		v.bindArray(name, slices.Concat(old, elements))
	case known && a.Append && len(old) > 0: // the assignment might not run, so it is unknown whether elements were added
		v.bindArray(name, slices.Concat(old, []arg{{kind: anything}}))
	}
}

// attributes records which variables get attributes that affect later assignments. For example, an
// assignment to a variable fails after declare -r, and stores a different value after declare -u.
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
