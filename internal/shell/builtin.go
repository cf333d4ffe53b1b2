package shell

import (
	"slices"
	"strings"
)

// readBuiltin interprets a shell builtin that runs commands or changes the state of the shell. It
// does not interpret wrappers such as command. It returns false for any command that it does not
// interpret.
func (r *reader) readBuiltin(name string, args []arg) bool {
	switch name {
	case "eval":
		if len(args) == 1 && args[0].setUp {
			r.doubtMild("the output of a program that sets up the shell")
			return true
		}
		if len(args) > 0 && args[0].matchWord("=--") != "" {
			args = args[1:]
		}
		r.readJoined(args...)
	case "trap":
		r.readTrap(args)
	case "source", ".":
		r.readSourced(args)
	case "alias", "unalias", "hash":
		r.aliases.define(&r.findings, name, args)
	case "enable", "fc", "bind", "complete", "compgen", "compopt", "history":
		if name == "history" && !slices.ContainsFunc(args, func(a arg) bool { return a.kind != literal || !isDigits(a.text) }) {
			return true // without options, history only prints the list of commands
		}
		r.doubtAll("the builtin " + name)
	case "export", "declare", "typeset", "local", "readonly":
		r.declareArgs(name, nil, args)
		for _, a := range args { // the parser does not recognize a declaration such as `command readonly x=y`; the declaration may change the effect of later assignments to x, so the value of x counts as unknown
			name, _, _ := strings.Cut(a.text, "=")
			r.vars.neverBind(name)
		}
	case "set":
		r.readShellOptions("akHB", args)
		if slices.ContainsFunc(args, func(a arg) bool { return isCluster(a.text) && strings.Contains(a.text, "n") || a.text == "noexec" }) {
			r.doubtStrict("an option that prevents the command from running")
		}
		r.readSet(args)
	case "shopt":
		r.readShellOptions("o", args)
	case "let":
		r.vars.forgetAll()
		r.doubtArithmetic("arithmetic on text")
	case "unset":
		for len(args) > 0 && args[0].matchWord("=-f =-v =-n") != "" {
			args = args[1:]
		}
		r.setUnknown(args)
	case "read", "mapfile", "readarray", "getopts", "wait":
		r.readVariableSetter(name, args)
	case "printf":
		r.readPrintf(args)
	case "test", "[":
		r.readTest(args)
	default:
		return false
	}
	return true
}

// currentShellBuiltins holds the builtins that run another builtin in the current shell.
var currentShellBuiltins = setOf("command builtin eval")

// isOutside reports whether the builtin that r.commands[i] runs is executed in a separate process,
// as in `env cd /`. Such a builtin cannot affect the shell. The result is false if the process is a
// nested shell, as in `sh -c 'cd /'`, because the builtin affects that shell.
func (r *reader) isOutside(i int) bool {
	for ; i >= 0; i = r.commands[i].by {
		switch c := &r.commands[i]; {
		case shells[c.name]:
			return false // a nested shell has its own control flow and variables
		case !currentShellBuiltins[c.name] && len(r.functions[c.name]) == 0 && r.aliases[c.name] == nil:
			return true
		}
	}
	return false
}

// readSet interprets the set builtin, which changes shell options and the positional parameters.
func (r *reader) readSet(args []arg) {
	if operands := slices.IndexFunc(args, func(a arg) bool {
		return a.kind != literal || !strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "+") || a.text == "--"
	}); operands >= 0 {
		r.vars.setArguments(nil, false)
		r.vars.resets = r.vars.resets || r.body != nil && r.body.trap
	}
	if slices.ContainsFunc(args, func(a arg) bool { return a.kind != literal || isCluster(a.text) && strings.Contains(a.text, "A") }) {
		r.vars.forgetAll()
	}
	switch {
	case r.body != nil, r.piped: // some shells run the last command of a pipeline in the current shell, so that command may change the script's options
		*r.flow.uncertain = true
	case r.defined["set"]:
	default:
		r.flow.setOptions(args)
	}
}

// readTrap interprets the trap builtin, whose action is a script. Without a signal, trap sets no
// action.
func (r *reader) readTrap(args []arg) {
	for len(args) > 0 && args[0].matchWord("=-- =-p =-l") != "" {
		args = args[1:]
	}
	if len(args) > 0 && args[0].matchWord("=-") == "" {
		r.vars.forgetAll() // the trap runs later, when variables may have other values; it may also set variables
		r.vars.unbound = true
		defer func(before masking, b *body) { r.flow.masking, r.body = before, b }(r.flow.mask(conditional), r.body)
		r.body = &body{trap: true, texts: -1}
		r.readJoined(args[0])
	}
}

// readVariableSetter interprets a builtin that sets the variables named by its arguments.
func (r *scope) readVariableSetter(name string, args []arg) {
	if name == "wait" && len(args) == 1 && args[0].kind <= single {
		return // wait with a single argument, such as $!, sets no variable
	}
	found, rest, ok := setterOptions[name]().splitLeading(args)
	if !ok {
		r.doubtOptions("the builtin "+name+" with unknown options", args)
		return
	}
	for _, o := range found {
		if o.name == "a" || name == "wait" && o.name == "p" {
			r.setUnknown([]arg{o.value})
			r.vars.note(o.value.text, isArray)
		}
	}
	switch {
	case name == "wait":
	case name == "getopts" && len(rest) > 1:
		r.setUnknown(rest[1:2])
		r.assigned("OPTARG", arg{kind: anything})
	default:
		r.setUnknown(rest)
		if name != "read" && len(rest) > 0 {
			r.vars.note(rest[0].text, isArray) // mapfile and readarray fill an array
		}
	}
}

// readPrintf interprets printf. With the option -v, it assigns its output to a variable.
func (r *scope) readPrintf(args []arg) {
	switch {
	case len(args) == 0:
	case args[0].matchWord("=-v") != "" && len(args) > 1:
		r.setUnknown(args[1:2])
	case strings.HasPrefix(args[0].text, "-v"):
		r.setUnknown([]arg{{kind: args[0].kind, text: args[0].text[2:]}})
	case args[0].kind == anything, args[0].kind == single && args[0].text == "" && strings.Trim(args[0].mid+args[0].tail, nameLetters+"0123456789[]-") == "" && len(args) > 1:
		r.vars.forgetAll()
		r.vars.wild = true // the argument may be -v, followed by the name of a variable
	}
}

// readTest interprets test and [. Unlike [[, they evaluate an operand as arithmetic only if it
// follows -v or -R.
func (r *scope) readTest(args []arg) {
	for i, a := range args {
		r.vars.tests = r.vars.tests || a.kind != literal
		switch {
		case a.kind == literal && (a.text == "-v" || a.text == "-R"):
			if i+1 >= len(args) || args[i+1].kind != literal || !isName(args[i+1].text) {
				r.doubtArithmetic("a test of a variable whose name is not literal")
			}
		case a.kind != literal && i+1 < len(args) && strings.Contains(args[i+1].text, "["):
			r.doubtArithmetic("a test that is not literal")
		}
	}
}

// readShellOptions interprets the arguments of set or shopt. Its first parameter lists the
// one-letter options that change how the shell reads the rest of the script.
func (r *scope) readShellOptions(letters string, args []arg) {
	for _, a := range args {
		if a.matchWord("=-- =-") != "" {
			return
		}
		isOption := strings.HasPrefix(a.text, "-") || strings.HasPrefix(a.text, "+")
		isReading := readingOptions[a.text] || strings.HasPrefix(a.text, "compat") || isOption && strings.ContainsAny(a.text, letters)
		if a.text == "extdebug" {
			r.doubtStrict("an option that lets a trap skip commands")
		}
		if !r.strict && a.kind == literal && (isHarmlessSetting(a.text) || a.text == "expand_aliases") {
			r.vars.allexport = r.vars.allexport || strings.HasPrefix(a.text, "-") || a.text == "allexport"
			continue
		}
		if a.kind != literal || isReading {
			r.doubtAll("an option that changes how a script is read")
		}
	}
}

// readSourced interprets the source builtin. The contents of the sourced file are unknown. Files
// that set up the shell, such as .bashrc, are assumed not to change the script's commands.
func (r *scope) readSourced(args []arg) {
	r.vars.forgetAll()
	r.vars.unbound = true
	if len(args) == 0 || args[0].kind == anything {
		r.doubtAll("a script that is not literal")
		return
	}
	r.readScriptFile(args[0])
	if settingFiles[args[0].file()] {
		r.doubtMild("a file that sets up the shell")
		return
	}
	r.doubtStrict("a script that is read from a file into the shell")
}

// isHarmlessSetting reports whether an option of set only restores a default or exports variables.
func isHarmlessSetting(option string) bool {
	return option == "allexport" || begins(option, "- +") && strings.Contains(option, "a") && strings.Trim(option[1:], "aeoux") == "" ||
		strings.HasPrefix(option, "+") && strings.Trim(option[1:], "akH") == ""
}

// settingFiles matches files that are commonly sourced to set variables, such as profiles and the
// files of virtual environments.
var settingFiles = setOf("activate activate.fish activate.csh nvm.sh .bashrc .zshrc .profile .bash_profile .zshenv .env .envrc env env.sh sdkman-init.sh conda.sh")

// readingOptions holds the shell options that change how a script is read.
var readingOptions = setOf("allexport keyword histexpand posix braceexpand nocaseglob expand_aliases")

// setterOptions holds the options of the builtins that set variables.
var setterOptions = eachName(map[string]func() *optionTable{
	"read":              lazyOptions("r s E a= d= i= n= N= p= t= u="),
	"mapfile,readarray": lazyOptions("t d= n= O= s= u="),
	"wait":              lazyOptions("f n p="),
	"getopts":           lazyOptions(""),
})
