package shell

import "strings"

// interpreters are the programs that run programs in languages other than the shell's.
var interpreters = setOf(`python pypy ipython perl ruby node nodejs php lua luajit tclsh wish expect rscript r julia groovy
	scala elixir iex clojure clj mongo mongosh erl osascript guile racket sbcl ghc runghc jshell coffee tsx ts-node octave gnuplot m4 dc gdb
	lldb`)

// readInterpreter reads a call of an interpreter, whose program is in the file named by the first
// argument or in a Python module. Any other program adds a doubt.
func readInterpreter(family string, args []arg) (p plan) {
	if asksHelp(args) || len(args) == 1 && args[0].matchWord("=-V =-v") != "" {
		return p
	}
	python := family == "python" || family == "pypy"
	for python && len(args) > 0 && args[0].kind == literal && isCluster(args[0].text) && strings.Trim(args[0].text[1:], "bBdEIOPqsSuv") == "" {
		args = args[1:] // these flags run nothing
	}
	switch {
	case python && len(args) > 1 && args[0].matchWord("=-m") != "":
		module, _, _ := strings.Cut(args[1].text, ".")
		if args[1].kind != literal || module == "" || runningModules[module] {
			p.doubt(inText, "a module that runs its arguments", args...)
		}
	case len(args) == 0, args[0].text == "-", args[0].kind == literal && args[0].text == "":
		p.add(runsInput, "", args...)
	case strings.HasPrefix(args[0].text, "-"), isData(args[0].text), args[0].text == "inspect":
		p.doubt(inText, "a program on the command line", args...)
	default:
		p.add(runsFile, "", args[0])
	}
	return p
}

// isData reports whether a text is a data URL, as in node --import data:...
func isData(text string) bool { return strings.HasPrefix(strings.ToLower(text), "data:") }

// runningModules are the Python modules that run their arguments.
var runningModules = setOf("timeit pdb profile cProfile trace code runpy asyncio doctest idlelib IPython bpython ptpython xonsh debugpy")

// asksHelp reports whether the only argument asks for help or the version.
func asksHelp(args []arg) bool {
	return len(args) == 1 && args[0].kind == literal && (args[0].text == "--version" || args[0].text == "--help")
}
