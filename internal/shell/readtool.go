package shell

import (
	"slices"
	"strings"
)

// readTool returns a plan for a [tool] with the given arguments. known is false if the arguments
// may name a command that is not in the plan.
func readTool(name string, t tool, args []arg, strictly bool) (p plan, known bool) {
	for file := range strings.FieldsSeq(t.files) {
		p.add(runsFile, "", arg{text: file})
	}
	if name == "sqlite3" || name == "duckdb" {
		p = append(p, readClientArgs(args)...)
	}
	switch t.kind {
	case launcher:
		return append(p, readLauncher(args)...), false
	case delegate:
		if name == "zmodload" || name == "autoload" || name == "emulate" {
			p.addDoubt(all, "a builtin of zsh that changes what its commands are")
			return p, true
		}
		p.addDoubt(inText, "a program that runs its arguments or input: "+name, args...)
		return p, true
	}
	if strings.HasSuffix(name, "tar") && len(args) > 0 && !strings.HasPrefix(args[0].text, "-") {
		letters := arg{kind: args[0].kind, text: "-" + args[0].text, tail: args[0].tail} // tar's first argument needs no dash, as in tar cIf PROGRAM a b
		args = append([]arg{letters}, args[1:]...)
	}
	launched := false
	for i, a := range args {
		option := t.launches == "" && a.kind == spread && a.text == "" // a glob without known text at the start may match a file whose name is an option
		if t.kind == container && (a.kind == anything || option) || t.kind >= builder && i == 0 && a.kind == anything {
			p.addDoubt(strict, "a subcommand that is not literal")
			return p, false
		}
		if !launched && a.matchWord(t.launches) != "" {
			launched = true
			if t.kind == container {
				p.add(mayRunArgs, "", args[i+1:]...)
				return p, false
			}
			p = append(p, readLauncher(args[i+1:])...)
		}
		if i == 0 && a.text == "pkg" && !strictly && t.files == "package.json" {
			p.add(changesPackage, "", args[1:]...)
			continue
		}
		p = append(p, t.readArgument(args[i:])...)
	}
	return p, t.kind != runner
}

// readArgument reads args[0], an argument of a [tool]. It returns a plan for the commands that the
// tool runs because of this argument. The remaining arguments may be its value or operands.
func (t *tool) readArgument(args []arg) (p plan) {
	a, rest := args[0], args[1:]
	option, value, with := a.cut()
	if !with && len(rest) > 0 {
		value = rest[0]
	}
	switch command := a.matchWord(t.commands); {
	case a.matchWord(t.mayRun) != "":
		p.addDoubt(inText, "an option that may run a command", args...)
	case command != "" && (option == strings.TrimPrefix(command, "=") || with && strings.HasPrefix(command, "--")) && (with || len(rest) > 0):
		p.add(runsScript, "", value)
	case command != "":
		p.addDoubt(inText, "an option that runs a command", args...)
	case a.matchWord(t.file) != "":
		p.add(runsFile, "", value)
	case a.matchWord(t.runs) != "":
		return readProgramFiles(rest)
	case t.flags != "" && a.kind == literal && (a.text == "--no-print-directory" || isCluster(a.text) && strings.Trim(a.text[1:], t.flags) == ""):
	case t.flags != "" && strings.HasPrefix(a.text, "-"):
		p.addDoubt(inText, "an option that changes what runs", args...)
	case t.kind >= builder && with && steers(option):
		p.add(givesVariable, option, value)
	case t.kind == runner && with && a.kind != literal:
		p.add(passesValue, "")
	}
	return p
}

// readLauncher reads the arguments of a [tool] that runs a command. The command may begin at any of
// these arguments.
func readLauncher(args []arg) (p plan) {
	if slices.ContainsFunc(args, func(a arg) bool { return a.kind == literal && strings.ContainsAny(a.text, " ;|&$`") }) {
		p.addDoubt(inText, "an argument that may be a script", args...)
	}
	p.add(mayRunArgs, "", args...)
	return p
}

// readProgramFiles reads the arguments of `go run` and similar commands, which name files that
// contain programs. If a program is downloaded, encoded in a data URL or read from standard input,
// readProgramFiles records that it is unknown; see [doubt].
func readProgramFiles(args []arg) (p plan) {
	for _, a := range args {
		switch {
		case strings.HasPrefix(a.text, "-") && a.text != "-":
		case a.text == "-", isData(a.text), strings.Contains(a.text, "://"):
			p.addDoubt(inText, "a program that is not in a file", args...)
			return p
		default:
			p.add(runsFile, "", a)
		}
	}
	return p
}
