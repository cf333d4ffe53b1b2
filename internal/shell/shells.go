package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// shellOptions are the options of the shells in shells.
var shellOptions = leading("a b c e f h l m n p r s t u v x C E P T o= O= login noprofile norc posix restricted verbose noediting")

// The shells whose scripts are parsed, and shells with a different language.
var (
	shells        = setOf("sh bash dash ash ksh mksh lksh pdksh oksh loksh rbash rksh yash posh zsh hush")
	foreignShells = setOf("fish csh tcsh rc es nu xonsh elvish oil osh ysh pwsh powershell cmd")
)

// readShell reads a call of a shell: the script after -c, or the one on standard input. A script in
// a file is not read; it counts as a program like any other.
func readShell(r *reader, name string, args []arg, redirs []*syntax.Redirect) {
	if asksHelp(args) {
		return
	}
	if foreignShells[name] {
		if len(args) == 0 || args[0].kind != literal || args[0].text == "" || begins(args[0].text, "- /") {
			readForeign(r, args)
			return
		}
		readScriptFile(r, args[0])
		return
	}
	found, rest, ok := shellOptions().lead(args)
	if !ok || len(rest) > 0 && strings.HasPrefix(rest[0].text, "+") {
		if has(found, "c") && len(rest) > 0 && rest[0].kind != literal {
			r.doubtAll("a script that is not literal")
			return
		}
		if len(rest) > 0 && rest[0].kind != literal {
			readScriptFile(r, rest[0])
			return
		}
		r.doubtText("a shell with options that are not known", args...)
		return
	}
	defer func(before flow, vars values) { r.flow, r.vars.values = before, vars }(r.flow, r.vars.values)
	r.flow.errexit, r.flow.pipefail, r.flow.uncertain = has(found, "e"), false, new(bool)
	r.vars.values = values{}
	for _, o := range found {
		if o.name == "o" {
			readShellOptions(r, "", []arg{o.value})
			r.flow.option(o.value.text, true)
		}
	}
	if slices.ContainsFunc(found, func(o givenOption) bool { return o.name == "n" || o.value.text == "noexec" }) {
		r.flow.mask(unrun)
	}
	switch {
	case has(found, "c") && len(rest) > 0:
		readDialect(r, name, rest[0])
	case len(rest) > 0 && !has(found, "s"):
		readScriptFile(r, rest[0])
	default:
		readScriptInput(r, name, redirs)
	}
}

// readDialect reads a script for a shell similar to bash. Constructs that this shell reads
// differently make the reading opaque.
func readDialect(r *reader, name string, script arg) {
	before := r.posix
	r.posix = name != "bash" && name != "rbash"
	if name == "zsh" && (strings.ContainsAny(script.text, "(") || strings.Contains(" "+script.text, " =")) {
		r.doubtAll("a script in another shell's language")
	}
	r.text(script)
	r.posix = before
}

// readForeign reads a script in another shell's language, on the command line or on standard input.
func readForeign(r *reader, args []arg) {
	if len(args) == 0 && !r.textInput {
		r.doubtAll("a script in another shell's language")
		return
	}
	r.doubtText("a script in another shell's language", args...)
}

// readProgramInput reads the program that an interpreter gets on standard input: a text in the
// script, or the output of another command.
func readProgramInput(r *reader, args []arg) {
	if r.textInput && !r.input || !r.input && len(args) == 0 {
		r.doubtText("a program that is read from the input", args...)
		return
	}
	r.doubtAll("a program that is read from the input")
}

// readScriptFile reads an operand of a shell or an interpreter that names a program file.
func readScriptFile(r *reader, a arg) {
	switch {
	case a.pipe:
		r.doubtAll("a shell that reads its input")
	case a.text == "-", isDevice(a.text), r.strict && begins(strings.TrimLeft(a.text, "./"), "dev/ proc/"):
		r.doubtAll("a program that is read from the input")
	case a.kind > single, a.kind == single && a.text == "" && !strings.Contains(a.tail, "/"):
		r.doubtMild("a program whose file is not literal")
	}
	r.files.programs.add(a.file())
}

// readScriptInput reads the script that a shell gets on standard input.
func readScriptInput(r *reader, name string, redirs []*syntax.Redirect) {
	text, ok := stdin(redirs)
	if !ok && !r.strict && readsFile(r, redirs) {
		return
	}
	if !ok {
		r.doubtAll("a shell that reads its input")
		return
	}
	for _, word := range []string{"read", "<<", "head", "dd", "mapfile"} {
		if strings.Contains(text, word) {
			// The command may consume a part of the script, such as the "#" of "# rm x".
			r.doubtAll("a script that reads what it stands in")
		}
	}
	readDialect(r, name, arg{text: text})
}

// readsFile reports whether a shell reads its script from files: bash < x.sh, cat x.sh | bash. It
// records these files as programs.
func readsFile(r *reader, redirs []*syntax.Redirect) bool {
	if len(redirs) == 0 && !r.input && !r.piped {
		redirs = r.outerRedirs
	}
	var files []arg
	switch {
	case len(redirs) == 1 && redirs[0].Op == syntax.RdrIn && redirs[0].N == nil:
		files = []arg{r.word(redirs[0].Word)}
	case len(redirs) == 0 && r.commands[r.owner].filter && r.pipe.elements == 1 && r.pipe.from < r.owner && r.commands[r.pipe.from].name == "cat":
		files = r.commands[r.pipe.from].args
	}
	if len(files) == 0 || slices.ContainsFunc(files, func(a arg) bool { return a.kind != literal || begins(a.text, "- <") || isDevice(a.text) }) {
		return false
	}
	for _, a := range files {
		readScriptFile(r, a)
	}
	return true
}

// asksHelp reports whether the only argument asks for help or the version.
func asksHelp(args []arg) bool {
	return len(args) == 1 && args[0].kind == literal && (args[0].text == "--version" || args[0].text == "--help")
}

// isCluster reports whether a text is one dash followed by letters.
func isCluster(text string) bool {
	return len(text) > 1 && text[0] == '-' && text[1] != '-'
}

// interpreters are the programs that run programs in languages other than that of the shell.
var interpreters = setOf(`python pypy ipython perl ruby node nodejs php lua luajit tclsh wish expect rscript r julia groovy
	scala elixir iex clojure clj mongo mongosh erl osascript guile racket sbcl ghc runghc jshell coffee tsx ts-node octave gnuplot m4 dc gdb
	lldb`)

// readInterpreter reads a call of an interpreter. Its program is in the file named by the first
// argument, or in a Python module. Any other program adds a doubt.
func readInterpreter(r *reader, family string, args []arg) {
	r.recognized = true
	if asksHelp(args) || len(args) == 1 && args[0].matchWord("=-V =-v") != "" {
		return
	}
	python := family == "python" || family == "pypy"
	for python && len(args) > 0 && args[0].kind == literal && isCluster(args[0].text) && strings.Trim(args[0].text[1:], "bBdEIOPqsSuv") == "" {
		args = args[1:] // flags that run nothing
	}
	switch {
	case python && len(args) > 1 && args[0].matchWord("=-m") != "":
		module, _, _ := strings.Cut(args[1].text, ".")
		if args[1].kind != literal || module == "" || runningModules[module] {
			r.doubtText("a module that runs its arguments", args...)
		}
	case len(args) == 0, args[0].text == "-", args[0].kind == literal && args[0].text == "":
		readProgramInput(r, args)
	case strings.HasPrefix(args[0].text, "-"), isData(args[0].text), args[0].text == "inspect":
		r.doubtText("a program on the command line", args...)
	default:
		readScriptFile(r, args[0])
	}
}

// isData reports whether a text is a data URL, as in node --import data:...
func isData(text string) bool { return strings.HasPrefix(strings.ToLower(text), "data:") }

// runningModules are the Python modules that run their arguments.
var runningModules = setOf("timeit pdb profile cProfile trace code runpy asyncio doctest idlelib IPython bpython ptpython xonsh debugpy")
