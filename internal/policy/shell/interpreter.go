package shell

import "strings"

// isInterpreter reports whether a program runs programs in a language of its own.
func isInterpreter(family string) bool {
	_, ok := interpreters[family]
	return ok
}

// interpreters are the options of interpreters with which the program is on the
// command line, as letters and as long options, and the letters and long options that
// take another value.
var interpreters = map[string]struct {
	code, values       string
	longCode, longRest string
}{
	"python":    {code: "ci", values: "mWX", longRest: "--check-hash-based-pycs"},
	"pypy":      {code: "ci", values: "mWX"},
	"ipython":   {code: "ci", values: "m"},
	"perl":      {code: "eEMmdDx", values: "I"},
	"ruby":      {code: "ex", values: "rICE"},
	"node":      {code: "epi", values: "rC", longCode: "--eval --print --interactive", longRest: "--require --import --loader --experimental-loader --env-file --conditions"},
	"nodejs":    {code: "epi", values: "rC", longCode: "--eval --print --interactive", longRest: "--require --import --loader --env-file --conditions"},
	"php":       {code: "raBREF", values: "cdtS", longCode: "--run --process-code --interactive"},
	"lua":       {code: "ei", values: "l"},
	"luajit":    {code: "ei", values: "ljO"},
	"tclsh":     {},
	"wish":      {},
	"expect":    {code: "cdD", values: "fb"},
	"rscript":   {code: "e", longCode: "--eval"},
	"r":         {code: "ef"},
	"julia":     {code: "eELi", values: "JtpC", longCode: "--eval --print --load"},
	"groovy":    {code: "einp"},
	"scala":     {code: "e"},
	"elixir":    {code: "er", longCode: "--eval --require --rpc-eval"},
	"iex":       {code: "er", longCode: "--eval --require --rpc-eval"},
	"clojure":   {code: "eMXT", longCode: "--eval --main --init"},
	"clj":       {code: "eMXT", longCode: "--eval --main --init"},
	"mongo":     {longCode: "--eval --shell"},
	"mongosh":   {longCode: "--eval --shell"},
	"erl":       {code: "esr"},
	"osascript": {code: "ei", values: "ls"},
	"guile":     {code: "cel"},
	"racket":    {code: "efi"},
	"sbcl":      {longCode: "--eval --load"},
	"ghc":       {code: "e"},
	"runghc":    {},
	"jshell":    {code: "R"},
	"coffee":    {code: "ei", longCode: "--eval"},
	"tsx":       {code: "ep", longCode: "--eval --print", longRest: "--tsconfig"},
	"ts-node":   {code: "epi", longCode: "--eval --print", longRest: "-P --project"},
	"octave":    {longCode: "--eval --exec"},
	"gnuplot":   {code: "e"},
	"m4":        {code: "D"},
	"dc":        {code: "e", longCode: "--expression"},
	"gdb":       {code: "ex", longCode: "--eval-command --init-eval-command --ex --command"},
	"lldb":      {code: "osOS"},
}

// interpreter reads a call of an interpreter: opaque unless the program is in a file.
func (r *reader) interpreter(family string, args []arg) {
	r.recognized = true
	if asksHelp(args) || len(args) == 1 && args[0].kind == literal && (args[0].text == "-V" || args[0].text == "-v") {
		return
	}
	in := interpreters[family]
	found, unclear := false, false // a file; whether it is the value of an option
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case isData(a.text):
			r.unsure("a program on the command line")
			return
		case a.text == "-", a.kind == literal && a.text == "":
			r.unsure("a program that is read from the input")
			return
		case !strings.HasPrefix(a.text, "-"):
			r.scriptFile(a)
			if found = true; !unclear {
				return
			}
			unclear = false
		case strings.HasPrefix(a.text, "--"):
			name, value, with := strings.Cut(a.text, "=")
			if a.kind > single || opens(in.longCode, name) || isData(value) {
				r.unsure("a program on the command line")
				return
			}
			switch {
			case with:
			case (form{long: in.longRest}).hasLong(name):
				i++
				if i < len(args) && isData(args[i].text) {
					r.unsure("a program on the command line")
				}
			default:
				unclear = true
			}
		default:
			stop, value := letters(a, in.code, in.values)
			switch {
			case stop:
				r.unsure("a program on the command line")
				return
			case value == 'm':
				r.module(args[i:])
				return
			case value != 0 && strings.HasSuffix(a.text, string(value)):
				i++
			}
		}
	}
	if !found {
		r.unsure("a program that is read from the input")
	}
}

// opens reports whether a long option is one of those, or is one cut short.
func opens(options, name string) bool {
	for _, o := range strings.Fields(options) {
		if o == name || shortens(name, o) {
			return true
		}
	}
	return false
}

// isData reports whether an address has its content in itself: node --import data:...
func isData(text string) bool { return strings.HasPrefix(strings.ToLower(text), "data:") }

// letters looks through the letters of an option for one that gives code, or one that takes a value.
func letters(a arg, code, values string) (stop bool, value byte) {
	if a.kind != literal {
		return true, 0
	}
	for i := 1; i < len(a.text); i++ {
		switch {
		case strings.IndexByte(code, a.text[i]) >= 0:
			return true, 0
		case strings.IndexByte(values, a.text[i]) >= 0:
			return false, a.text[i]
		}
	}
	return false, 0
}

// module reads python -m: a program in a file, unless it is one that runs its arguments.
func (r *reader) module(args []arg) {
	_, name, _ := strings.Cut(args[0].text, "m")
	if name == "" && len(args) > 1 {
		if args[1].kind != literal {
			r.unsure("a module whose name is not literal")
			return
		}
		name = args[1].text
	}
	switch root, _, _ := strings.Cut(name, "."); root {
	case "timeit", "pdb", "profile", "cProfile", "trace", "code", "runpy", "asyncio", "doctest", "", "idlelib", "IPython", "bpython", "ptpython", "xonsh", "debugpy":
		r.unsure("a module that runs its arguments")
	}
}
