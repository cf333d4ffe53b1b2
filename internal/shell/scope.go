package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A scope holds the findings about a script and the variables of the shell that runs it. An
// assignment in the script updates the variable's value in the scope. If the effect of the
// assignment is uncertain, the scope also records a [doubt].
type scope struct {
	findings
	vars   variables
	nested nestedReader
}

// A nestedReader reads the scripts that are nested in words and in the values of variables.
type nestedReader interface {
	// substitution reads the commands of a command substitution or process substitution. If fed is
	// true, their standard input is a pipe, as in >(rm x).
	substitution(list []*syntax.Stmt, fed bool)
	// tentativeScript reads text that a program may run as a script.
	tentativeScript(text string)
}

// assigned records that the script assigns a value to the named variable.
func (r *scope) assigned(name string, value arg) {
	r.vars.unbind(name)
	if name == "IFS" { // from here on, it is unknown how expansions are split
		r.vars.forgetAll()
		r.vars.unbound, r.vars.customIFS = true, true
	}
	if name == "argv" { // in zsh, an assignment to argv replaces the arguments
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
		r.nested.tentativeScript(value.text)
	case resolutionVariables[name], strings.HasSuffix(name, "_functions"):
		r.sideEffects = true
		r.doubtAll("a variable that changes what runs: " + name)
	case steers(name) && !isInertSetting(name, value):
		r.sideEffects = true
		r.doubtStrict("a variable that changes what runs: " + name)
		r.mentions.add([]arg{value}, len(r.doubts)-1)
	}
	if isInteger(value) {
		return
	}
	r.vars.note(name, free)
	if counters[name] {
		r.doubtArithmetic("arithmetic on text") // bash evaluates the value as arithmetic, as in RANDOM='a[$(rm y)]'
	}
}

// compute records that an arithmetic expression evaluates the named variable and may assign a value
// to it.
func (r *scope) compute(name string) {
	if steers(name) {
		r.doubtStrict("a variable that changes what runs: " + name) // as in ((PATH=1))
	}
	r.vars.unbind(name)
	if name == "IFS" {
		r.assigned(name, arg{kind: anything})
	}
	r.vars.note(name, computed)
}

// setUnknown records that the variables named by args are set to unknown values.
func (r *scope) setUnknown(args []arg) {
	for _, a := range args {
		if a.kind != literal || !isName(a.text) {
			r.doubtArithmetic("a variable whose name is not literal")
			r.vars.forgetAll()
			return
		}
		r.assigned(a.text, arg{kind: anything})
	}
}

// declareArgs reads the assignments and other arguments of declare and similar builtins.
func (r *scope) declareArgs(builtin string, assigned, args []arg) {
	var kind fact // isArray if an option such as -a declares the variables as arrays; otherwise 0
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

// declareArg reads an argument of declare or a similar builtin that the parser has not recognized
// as an assignment. For example, the argument may be an option or contain an expansion.
func (r *scope) declareArg(a arg) {
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
		r.doubtAll("a declaration of an array element")
	case a.kind != literal:
		r.assigned(name, arg{kind: anything})
	case ok:
		r.assigned(name, arg{text: value})
	}
}

// compound checks an argument of declare or a similar builtin. An argument such as x=(a b) sets the
// elements of an array. bash expands these elements and may run a command in them, so compound
// records this uncertainty. If the argument only declares an array, or assigns a value that is not
// literal, compound records this as a [fact] about the variable. [scope.settle] later looks for
// variables with both facts.
func (r *scope) compound(a arg, kind fact) {
	name, value, ok := strings.Cut(a.text, "=")
	name = strings.TrimSuffix(name, "+")
	switch {
	case !ok:
		r.vars.note(name, kind)
	case strings.HasPrefix(value, "("):
		if a.kind != literal || strings.ContainsAny(value, "$`<>") {
			r.doubtArray("an array that text defines")
		}
	case a.kind != literal && value == "":
		r.vars.note(name, kind|filled)
	}
}

// given records an environment variable that the script passes to programs, unless the variable is
// known to be inert. A variable that is not inert may make a program run something.
func (r *scope) given(name string, value arg) {
	if !isInertVariable(name, value) {
		r.vars.given = true
		r.vars.passed = append(r.vars.passed, value)
	}
}

// doubtObeyed checks whether any of the commands may act on the environment variables that the
// script passes to programs. If so, it records that a variable may change the effect of a program.
func (r *scope) doubtObeyed(commands []command) {
	for i := range commands {
		if !isSelfContained(commands[i].name) {
			r.sideEffects = true
			r.doubtMild("a variable that may change what a program does")
			if !r.strict {
				r.mentions.add(r.vars.passed, len(r.doubts)-1)
			}
			return
		}
	}
}

// settle records the uncertainties about variables that can be found only after the whole script
// has been read.
func (r *scope) settle() {
	evaluated, array := r.vars.tests && r.vars.commandIndex, false // test may run the command in an array index, as in x=-v; y='a[$(rm z)]'; [ $x $y ]
	for name, f := range r.vars.facts {
		evaluated = evaluated || f&computed != 0 && (f&free != 0 || implicitVariables[name] || r.vars.wild && isName(name))
		array = array || f&isArray != 0 && f&filled != 0
	}
	if evaluated {
		r.doubtArithmetic("arithmetic on text")
	}
	if array {
		r.doubtArray("an array that text defines")
	}
	if r.vars.made && r.vars.shells {
		r.doubtAll("a text that make expands")
	}
	if r.vars.exported {
		r.doubtObeyed(r.commands)
	}
}

// note carries out a step of a [plan]. It handles only the steps that do not contain a command or a
// script; see [reader.perform].
func (r *scope) note(s step) {
	switch s.do {
	case addsDoubt:
		if s.reach == inText {
			r.doubtText(s.what, s.args...)
		} else {
			r.addDoubt(s.what, s.reach)
		}
	case addsOptions:
		r.doubtOptions(s.what, s.args)
	case addsArithmetic:
		r.doubtArithmetic(s.what)
	case runsFile:
		r.readScriptFile(s.args[0])
	case runsInput:
		r.readProgramInput(s.args)
	case writesFile:
		r.writeFile(s.args[0])
	case givesVariable:
		r.assigned(s.what, s.args[0])
		r.given(s.what, s.args[0])
	case changesPackage:
		r.files.pkg = append(r.files.pkg, r.owner)
		r.files.data = append(r.files.data, s.args...)
	case passesValue:
		r.vars.made = true
	}
}
