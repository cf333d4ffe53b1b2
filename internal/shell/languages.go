package shell

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/petrigate/petrigate/internal/list"
)

// sqlClients lists the database and file transfer clients whose input is checked by harmlessSQL.
var sqlClients = setOf("sqlite3 duckdb psql mysql mariadb sftp")

// sqlTells matches parts of SQL text and of client commands that can run a program or write a file.
var sqlTells = regexp.MustCompile(`(?i)\\|\b(program|system|pager|shell|source)\b|\b(edit|writefile|load_extension|fts3_tokenizer)\s*\(|(?m:^\s*!)`)

// dotCommand matches the start of a dot command of the sqlite3 shell. harmlessDot matches the dot
// commands that neither run a program nor write a file.
var (
	dotCommand  = regexp.MustCompile(`(?m)^\s*\.`)
	harmlessDot = regexp.MustCompile(`(?m)^[ \t]*\.(schema|tables?|dump|index(es)?|databases|help|modes?|headers?|width|nullvalue|timer|stats|show|fullschema|explain|eqp|quit|exit|bail|changes|separator|timeout|version)( [\w %*,.'"-]*)?$`)
)

// harmlessSQL reports whether the SQL text is certain not to run a program or write a file.
func harmlessSQL(text string) bool {
	return !sqlTells.MatchString(text) && !dotCommand.MatchString(harmlessDot.ReplaceAllString(text, ""))
}

// readClientArgs reads the statements in the arguments of sqlite3 and duckdb.
func readClientArgs(args []arg) (p plan) {
	for _, a := range args {
		name := strings.TrimLeft(a.text, "-")
		shortens := func(option string) bool { return strings.HasPrefix(option, name) }
		if isOption(a.text) && (shortens("cmd") || shortens("init")) {
			p.addDoubt(inText, "an option that may run a command", args...)
		}
		if !harmlessSQL(a.text) || !harmlessSQL(a.tail) {
			p.addDoubt(inText, "a statement that may run a command", args...)
		}
	}
	return p
}

var (
	awkOptions = lazyOptions("F= v= f=")
	sedOptions = lazyOptions("n|quiet|silent E|r|regexp-extended s|separate u|unbuffered z|null-data e|expression= f|file= i|in-place~ posix debug sandbox follow-symlinks l|line-length=")
)

var awks = setOf("awk gawk mawk nawk original-awk")

// readAwk reads an awk program, which can run commands with system(), with pipes, and with gawk's
// extensions and indirect function calls.
func readAwk(args []arg) plan {
	if asksHelp(args) {
		return nil
	}
	found, rest, ok := awkOptions().splitLeading(args)
	if !ok || len(args) > 0 && args[0].text == "--" {
		return doubtPlan(inText, "awk with unknown options", args...)
	}
	if i := slices.IndexFunc(found, func(o givenOption) bool { return o.name == "f" }); i >= 0 {
		return plan{{do: runsFile, args: []arg{found[i].value}}}
	}
	if len(rest) == 0 {
		return nil
	}
	text := strings.ReplaceAll(rest[0].text, "||", "")
	if rest[0].kind != literal || strings.ContainsAny(text, "|@") || strings.Contains(text, "system") {
		return doubtPlan(inText, "a program on the command line", args...)
	}
	return nil
}

// readSed reads sed scripts, which can run commands with the e command.
func readSed(args []arg) (p plan) {
	if asksHelp(args) {
		return p
	}
	found, scripts, ok := sedOptions().splitOptions(args, false)
	if !ok || slices.ContainsFunc(found, givenOption.isUnknown) {
		return doubtPlan(inText, "sed with unknown options", args...)
	}
	scripts = scripts[:min(1, len(scripts))]
	if slices.ContainsFunc(found, func(o givenOption) bool { return o.known.names[0] == "e" || o.known.names[0] == "f" }) {
		scripts = nil
	}
	for _, o := range found {
		switch o.known.names[0] {
		case "e":
			scripts = append(scripts, o.value)
		case "f":
			p.add(runsFile, "", o.value)
		case "i":
			if strings.Contains(o.value.text, "e") {
				p.addDoubt(inText, "sed with unknown options", args...) // in sed -ie, for example, the e may be a suffix or an option
			}
		}
	}
	for _, s := range scripts {
		if s.kind != literal || !harmlessSed().MatchString(s.text) {
			p.addDoubt(inText, "an unsupported sed script", args...)
		}
	}
	return p
}

// harmlessSed matches sed scripts whose commands do nothing but print, delete or substitute text,
// copy it to or from the hold space, or quit. The expression is large, so it is compiled on first
// use.
var harmlessSed = sync.OnceValue(func() *regexp.Regexp {
	// part returns a regular expression for one part of a sed command, such as the pattern or the
	// replacement, up to and including the delimiter d. A bracket expression in the part must not
	// contain d, because versions of sed disagree about its meaning there.
	part := func(d string) string { return `(?:[^\n\\\[` + d + `]|\\.|\[[^\n\]` + d + `]*\])*` + d }
	substitutions := list.Map([]string{`/`, `\|`, `#`, `,`, `@`, `:`}, func(d string) string { return d + part(d) + part(d) })
	address := `(?:[0-9$,~+ ]|/` + part(`/`) + `[IM]*)*[ \t!]*`
	command := `(?:[pdDPnNhHgGxl=z]|[qQ][0-9 ]*|s(?:` + strings.Join(substitutions, "|") + `)[gpiIm0-9]*)`
	return regexp.MustCompile(`(?s)^[ \t\n;}]*(?:(?:` + address + `\{[ \t\n;]*)*` + address + command + `(?:[ \t\n;}]+|$))*$`)
})

// interpreters lists the interpreters for languages other than the shell's.
var interpreters = setOf(`python pypy ipython perl ruby node nodejs php lua luajit tclsh wish expect rscript r julia groovy
	scala elixir iex clojure clj mongo mongosh erl osascript guile racket sbcl ghc runghc jshell coffee tsx ts-node octave gnuplot m4 dc gdb
	lldb`)

// readInterpreter returns a plan for the arguments of an interpreter such as python or perl. If
// they begin with an option, they may contain the program itself, as in perl -e. The plan then
// assumes that the program may run any command named in the arguments. The same applies to Python
// modules that run their arguments.
func readInterpreter(family string, args []arg) (p plan) {
	if asksHelp(args) || len(args) == 1 && args[0].matchWord("=-V =-v") != "" {
		return p
	}
	python := family == "python" || family == "pypy"
	for python && len(args) > 0 && args[0].kind == literal && isCluster(args[0].text) && strings.Trim(args[0].text[1:], "bBdEIOPqsSuv") == "" {
		args = args[1:] // skip options that do not run anything
	}
	switch {
	case python && len(args) > 1 && args[0].matchWord("=-m") != "":
		module, _, _ := strings.Cut(args[1].text, ".")
		if args[1].kind != literal || module == "" || runningModules[module] {
			p.addDoubt(inText, "a module that runs its arguments", args...)
		}
	case len(args) == 0, args[0].text == "-", args[0].kind == literal && args[0].text == "":
		p.add(runsInput, "", args...)
	case strings.HasPrefix(args[0].text, "-"), isData(args[0].text), args[0].text == "inspect":
		p.addDoubt(inText, "a program on the command line", args...)
	default:
		p.add(runsFile, "", args[0])
	}
	return p
}

// isData reports whether text is a data URL, as in node --import data:...
func isData(text string) bool { return strings.HasPrefix(strings.ToLower(text), "data:") }

// runningModules lists the Python modules that run their arguments.
var runningModules = setOf("timeit pdb profile cProfile trace code runpy asyncio doctest idlelib IPython bpython ptpython xonsh debugpy")

// asksHelp reports whether the only argument asks for help or for the version.
func asksHelp(args []arg) bool {
	return len(args) == 1 && args[0].kind == literal && (args[0].text == "--version" || args[0].text == "--help")
}
