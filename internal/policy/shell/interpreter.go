package shell

import "strings"

// interpreters are the programs that run programs in a language of their own.
var interpreters = setOf(`python pypy ipython perl ruby node nodejs php lua luajit tclsh wish expect rscript r julia groovy
	scala elixir iex clojure clj mongo mongosh erl osascript guile racket sbcl ghc runghc jshell coffee tsx ts-node octave gnuplot m4 dc gdb
	lldb`)

// readInterpreter reads a call of an interpreter. The program is in the file that the first
// argument names, or in a module of Python. Whatever else may stand there is opaque.
func readInterpreter(r *reader, family string, args []arg) {
	r.recognized = true
	if asksHelp(args) || len(args) == 1 && args[0].kind == literal && (args[0].text == "-V" || args[0].text == "-v") {
		return
	}
	if family == "python" || family == "pypy" {
		for len(args) > 0 && args[0].kind == literal && isPythonFlag(args[0].text) {
			args = args[1:]
		}
		if len(args) > 1 && args[0].kind == literal && args[0].text == "-m" {
			readModule(r, args[1])
			return
		}
	}
	switch {
	case len(args) == 0, args[0].text == "-", args[0].kind == literal && args[0].text == "":
		r.unsure("a program that is read from the input")
	case strings.HasPrefix(args[0].text, "-"), isData(args[0].text), args[0].text == "inspect":
		r.unsure("a program on the command line")
	default:
		readScriptFile(r, args[0])
	}
}

// isPythonFlag reports whether an argument is options of Python that run nothing.
func isPythonFlag(text string) bool {
	return isCluster(text) && strings.Trim(text[1:], "bBdEIOPqsSuv") == ""
}

// isData reports whether an address has its content in itself: node --import data:...
func isData(text string) bool { return strings.HasPrefix(strings.ToLower(text), "data:") }

// runningModules are the modules of Python that run their arguments.
var runningModules = setOf("timeit pdb profile cProfile trace code runpy asyncio doctest idlelib IPython bpython ptpython xonsh debugpy")

// readModule reads python -m: a program in a file, unless it is one that runs its arguments.
func readModule(r *reader, a arg) {
	root, _, _ := strings.Cut(a.text, ".")
	switch {
	case a.kind != literal:
		r.unsure("a module whose name is not literal")
	case root == "" || runningModules[root]:
		r.unsure("a module that runs its arguments")
	}
}
