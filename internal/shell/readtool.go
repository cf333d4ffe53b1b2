package shell

import (
	"slices"
	"strings"
)

// readTool reads what a tool runs. It reports false if an argument may still name a command.
func readTool(r *reader, name string, t tool, args []arg) bool {
	r.recognized = t.kind != container
	for file := range strings.FieldsSeq(t.files) {
		r.files.programs.add(file)
	}
	switch t.kind {
	case launcher:
		readLauncher(r, args)
		return false
	case delegate:
		if name == "zmodload" || name == "autoload" || name == "emulate" {
			r.doubtAll("a builtin of zsh that changes what its commands are")
			return true
		}
		r.doubtText("a program that runs what it is told: "+name, args...)
		return true
	}
	if strings.HasSuffix(name, "tar") && len(args) > 0 && !strings.HasPrefix(args[0].text, "-") {
		letters := arg{kind: args[0].kind, text: "-" + args[0].text, tail: args[0].tail} // as in tar cIf PROGRAM a b
		args = append([]arg{letters}, args[1:]...)
	}
	launched := false
	for i, a := range args {
		option := t.launches == "" && a.kind == spread && a.text == "" // a file name may be an option
		if t.kind == container && (a.kind == anything || option) || t.kind >= builder && i == 0 && a.kind == anything {
			r.doubtStrict("a subcommand that is not literal")
			return false
		}
		if !launched && a.matchWord(t.launches) != "" {
			launched = true
			if t.kind == container {
				r.readPossible(args[i+1:])
				return false
			}
			readLauncher(r, args[i+1:])
		}
		if i == 0 && a.text == "pkg" && !r.strict && t.files == "package.json" {
			r.files.pkg = append(r.files.pkg, r.owner)
			r.files.data = append(r.files.data, args[1:]...)
			continue
		}
		readToolArgument(r, t, a, args[i+1:])
	}
	return t.kind != runner
}

// readToolArgument reads an argument of a tool and, if necessary, the following ones in rest.
func readToolArgument(r *reader, t tool, a arg, rest []arg) {
	option, value, with := a.cut()
	if !with && len(rest) > 0 {
		value = rest[0]
	}
	switch command := a.matchWord(t.commands); {
	case a.matchWord(t.mayRun) != "":
		r.doubtText("an option that may run a command", append([]arg{a}, rest...)...)
	case command != "" && (option == strings.TrimPrefix(command, "=") || with && strings.HasPrefix(command, "--")) && (with || len(rest) > 0):
		r.readText(value)
	case command != "":
		r.doubtText("an option that runs a command", append([]arg{a}, rest...)...)
	case a.matchWord(t.file) != "":
		r.readScriptFile(value)
	case a.matchWord(t.runs) != "":
		readProgramFiles(r, rest)
	case t.flags != "" && a.kind == literal && (a.text == "--no-print-directory" || isCluster(a.text) && strings.Trim(a.text[1:], t.flags) == ""):
	case t.flags != "" && strings.HasPrefix(a.text, "-"):
		r.doubtText("an option that changes what is run", append([]arg{a}, rest...)...)
	case t.kind >= builder && with && steers(option):
		r.assigned(option, value)
	case t.kind == runner && with && a.kind != literal:
		r.vars.made = true
	}
}

// readLauncher reads arguments; a command may begin at any of them.
func readLauncher(r *reader, args []arg) {
	if slices.ContainsFunc(args, func(a arg) bool { return a.kind == literal && strings.ContainsAny(a.text, " ;|&$`") }) {
		r.doubtText("an argument that may be a script", args...)
	}
	r.readPossible(args)
}

// readProgramFiles reads the files that `go run` and similar commands run. A program that is
// downloaded, or encoded in a data URL, is not in a file.
func readProgramFiles(r *reader, args []arg) {
	for _, a := range args {
		switch {
		case strings.HasPrefix(a.text, "-") && a.text != "-":
		case a.text == "-", isData(a.text), strings.Contains(a.text, "://"):
			r.doubtText("a program that is in no file", args...)
			return
		default:
			r.readScriptFile(a)
		}
	}
}
