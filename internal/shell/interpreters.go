package shell

import "strings"

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
		args = args[1:] // these flags run nothing
	}
	switch {
	case python && len(args) > 1 && args[0].matchWord("=-m") != "":
		module, _, _ := strings.Cut(args[1].text, ".")
		if args[1].kind != literal || module == "" || runningModules[module] {
			r.doubtText("a module that runs its arguments", args...)
		}
	case len(args) == 0, args[0].text == "-", args[0].kind == literal && args[0].text == "":
		r.readProgramInput(args)
	case strings.HasPrefix(args[0].text, "-"), isData(args[0].text), args[0].text == "inspect":
		r.doubtText("a program on the command line", args...)
	default:
		r.readScriptFile(args[0])
	}
}

// isData reports whether a text is a data URL, as in node --import data:...
func isData(text string) bool { return strings.HasPrefix(strings.ToLower(text), "data:") }

// runningModules are the Python modules that run their arguments.
var runningModules = setOf("timeit pdb profile cProfile trace code runpy asyncio doctest idlelib IPython bpython ptpython xonsh debugpy")

// readProgramInput reads the program that an interpreter gets on standard input: a text in the
// script, or the output of another command.
func (r *findings) readProgramInput(args []arg) {
	if r.textInput && !r.input || !r.input && len(args) == 0 {
		r.doubtText("a program that is read from the input", args...)
		return
	}
	r.doubtAll("a program that is read from the input")
}

// readScriptFile reads an operand of a shell or an interpreter that names a program file.
func (r *findings) readScriptFile(a arg) {
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

// asksHelp reports whether the only argument asks for help or the version.
func asksHelp(args []arg) bool {
	return len(args) == 1 && args[0].kind == literal && (args[0].text == "--version" || args[0].text == "--help")
}

// readForeign reads a script in another shell's language, on the command line or on standard input.
func (r *findings) readForeign(args []arg) {
	if len(args) == 0 && !r.textInput {
		r.doubtAll("a script in another shell's language")
		return
	}
	r.doubtText("a script in another shell's language", args...)
}
