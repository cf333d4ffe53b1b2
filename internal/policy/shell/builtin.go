package shell

import "strings"

// readBuiltin reads what a builtin of the shell runs or changes, other than the
// wrappers; it reports false for what is no such builtin.
func readBuiltin(r *reader, name string, args []arg) bool {
	switch name {
	case "eval":
		if len(args) > 0 && args[0].says("=--") != "" {
			args = args[1:]
		}
		r.join(args)
	case "trap":
		readTrap(r, args)
	case "source", ".":
		r.unsure("a script that is read from a file into the shell")
	case "alias", "unalias", "hash":
		readAlias(r, name, args)
	case "enable", "fc", "bind", "complete", "compgen", "compopt", "history":
		r.unsure("the builtin " + name)
	case "export", "declare", "typeset", "local", "readonly":
		r.declared(name, nil, args)
	case "set":
		readSet(r, args)
	case "shopt":
		readShopt(r, args)
	case "let":
		r.unsure("arithmetic on text")
	case "unset":
		readUnset(r, args)
	case "read", "mapfile", "readarray", "getopts", "wait":
		readVariableSetter(r, name, args)
	case "printf":
		readPrintf(r, args)
	case "test", "[":
		readTest(r, args)
	default:
		return false
	}
	return true
}

// readTrap reads the action, which is a script. Without a signal there is none.
func readTrap(r *reader, args []arg) {
	for len(args) > 0 && args[0].says("=-- =-p =-l") != "" {
		args = args[1:]
	}
	if len(args) > 0 && args[0].says("=-") == "" {
		r.text(args[0])
	}
}

// readAlias reads definitions. An alias takes the place of a word before the
// script is parsed, so that nothing can be said of one that holds one.
func readAlias(r *reader, name string, args []arg) {
	for _, a := range args {
		if a.kind != literal || strings.Contains(a.text, "=") || name == "hash" && a.text != "-r" {
			r.unsure("an alias")
		}
	}
}

// readingOptions are the options of set -o that change how a script is read.
var readingOptions = setOf("allexport keyword histexpand posix braceexpand")

// readSet reads the options that change how the shell reads what follows.
func readSet(r *reader, args []arg) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.kind != literal && i == 0:
			r.unsure("options that are not literal")
			return
		case a.kind != literal, a.text == "--", len(a.text) < 2, a.text[0] != '-' && a.text[0] != '+':
			return
		case strings.ContainsAny(a.text, "kHB"), strings.Contains(a.text, "a") && a.text[0] == '-':
			r.unsure("an option that changes how a script is read")
		}
		if strings.HasSuffix(a.text, "o") && i+1 < len(args) {
			i++
			readSetOption(r, args[i])
		}
	}
}

// readSetOption reads the name of an option of set -o.
func readSetOption(r *reader, a arg) {
	if a.kind != literal || readingOptions[a.text] {
		r.unsure("an option that changes how a script is read")
	}
}

// readShopt reads the options that change how the shell reads what follows.
func readShopt(r *reader, args []arg) {
	for _, a := range args {
		if a.kind != literal || strings.HasPrefix(a.text, "compat") || a.text == "nocaseglob" || a.text == "expand_aliases" || isCluster(a.text) && strings.Contains(a.text, "o") {
			r.unsure("an option that changes how a script is read")
		}
	}
}

// readUnset evaluates an index in its arguments.
func readUnset(r *reader, args []arg) {
	for _, a := range args {
		if a.kind != literal || !isName(strings.TrimPrefix(a.text, "-")) {
			r.unsure("a variable whose name is not literal")
		}
		if steers(a.text) {
			r.unsure("a variable that changes what is run: " + a.text)
		}
	}
	r.side = true
}

// setterOptions are those of the builtins that set variables.
var setterOptions = eachName(map[string]func() *knownOptions{
	"read":              leading("r s E a= d= i= n= N= p= t= u="),
	"mapfile,readarray": leading("t d= n= O= s= u="),
	"wait":              leading("f n p="),
	"getopts":           leading(""),
})

// readVariableSetter reads the builtins that put a value into the variables which they name.
func readVariableSetter(r *reader, name string, args []arg) {
	if name == "wait" && len(args) == 1 && args[0].kind <= single {
		return // wait $!
	}
	found, rest, ok := setterOptions[name]().lead(args)
	if !ok {
		r.unsure("the builtin " + name + " with options that are not known")
		return
	}
	for _, o := range found {
		if o.name == "a" || name == "wait" && o.name == "p" {
			r.named([]arg{o.value})
			r.vars.note(o.value.text, isArray)
		}
	}
	switch {
	case name == "wait":
	case name == "getopts" && len(rest) > 1:
		r.named(rest[1:2])
		r.assigned("OPTARG", arg{kind: anything})
	default:
		r.named(rest)
		if name != "read" && len(rest) > 0 {
			r.vars.note(rest[0].text, isArray) // mapfile
		}
	}
}

// readPrintf puts its output into a variable with -v.
func readPrintf(r *reader, args []arg) {
	if len(args) == 0 {
		return
	}
	a := args[0]
	switch {
	case a.kind == anything || a.kind == single && a.text == "" && !strings.HasPrefix(a.tail, "/"):
		// It may be -v; what follows it is a name then.
		if len(args) > 1 || a.kind == anything {
			r.vars.wild = true
		}
	case strings.HasPrefix(a.text, "-v"):
		if a.kind == literal && a.text == "-v" && len(args) > 1 {
			r.named(args[1:2])
			return
		}
		r.named([]arg{{kind: a.kind, text: a.text[2:]}})
	}
}

// readTest reads test and [. Unlike [[, they evaluate the operand of -v alone.
func readTest(r *reader, args []arg) {
	for i, a := range args {
		r.vars.tests = r.vars.tests || a.kind != literal
		switch {
		case a.kind == literal && (a.text == "-v" || a.text == "-R"):
			if i+1 >= len(args) || args[i+1].kind != literal || !isName(args[i+1].text) {
				r.unsure("a test of a variable whose name is not literal")
			}
		case a.kind != literal && i+1 < len(args) && strings.Contains(args[i+1].text, "["):
			r.unsure("a test that is not literal")
		}
	}
}
