package shell

import (
	"slices"
	"strings"
)

// readBuiltin reads what a builtin of the shell runs or changes, except for wrappers such as
// command. It reports false for any other name.
func (r *reader) readBuiltin(name string, args []arg) bool {
	switch name {
	case "eval":
		if isSetUp(args) {
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
			return true // history without options prints the list
		}
		r.doubtAll("the builtin " + name)
	case "export", "declare", "typeset", "local", "readonly":
		r.declareArgs(name, nil, args)
		for _, a := range args { // reached for `command readonly x=y`
			name, _, _ := strings.Cut(a.text, "=")
			r.vars.neverBind(name)
		}
	case "set":
		r.readShellOptions("akHB", args)
		if slices.ContainsFunc(args, func(a arg) bool { return isCluster(a.text) && strings.Contains(a.text, "n") || a.text == "noexec" }) {
			r.doubtStrict("an option with which no command is run")
		}
		r.readSet(args)
	case "shopt":
		r.readShellOptions("o", args)
	case "let":
		r.vars.forgetAll()
		r.arithmeticOn("arithmetic on text")
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

// isSetUp reports whether the only argument of eval is the output of one of the settingPrograms.
func isSetUp(args []arg) bool { return len(args) == 1 && args[0].setUp }

// inShellBuiltins are the builtins that run another builtin in the current shell.
var inShellBuiltins = setOf("command builtin eval")

// isOutside reports whether command number i runs its command in another process, so that a builtin
// cannot affect the script's shell.
func (r *reader) isOutside(i int) bool {
	for ; i >= 0; i = r.commands[i].by {
		switch c := &r.commands[i]; {
		case shells[c.name]:
			return false // it has control flow and variables of its own
		case !inShellBuiltins[c.name] && len(r.functions[c.name]) == 0 && r.aliases[c.name] == nil:
			return true
		}
	}
	return false
}

// readSet reads the shell options and arguments that set changes.
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
	case r.body != nil, r.piped: // the last element of a pipe may run in the shell itself
		*r.flow.uncertain = true
	case r.defined["set"]:
	default:
		r.flow.setOptions(args)
	}
}

// readTrap reads the action of a trap, which is a script. Without a signal, trap sets no action.
func (r *reader) readTrap(args []arg) {
	for len(args) > 0 && args[0].matchWord("=-- =-p =-l") != "" {
		args = args[1:]
	}
	if len(args) > 0 && args[0].matchWord("=-") == "" {
		r.vars.forgetAll() // the trap runs later, when variables may hold other values, and may set them
		r.vars.unbound = true
		defer func(before masking, b *body) { r.flow.masking, r.body = before, b }(r.flow.mask(conditional), r.body)
		r.body = &body{trap: true, texts: -1}
		r.readJoined(args[0])
	}
}
