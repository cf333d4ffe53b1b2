package shell

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A client reads commands from its input and can run one of the shell's.
type client struct {
	sql   bool   // what its input holds can be told harmless, see harmlessSQL
	given string // options with which it reads no input, divided by spaces
	only  string // options with which alone it does
	max   int    // operands with which it does, if there is a bound
}

// clients are the programs that obey their input.
var clients = map[string]client{
	"sqlite3": {sql: true, max: 1},
	"duckdb":  {sql: true, max: 1},
	"psql":    {sql: true, given: "-c --command -f --file -l --list"},
	"mysql":   {sql: true, given: "-e --execute"},
	"mariadb": {sql: true, given: "-e --execute"},
	"sftp":    {sql: true},
	"gdb":     {given: "-batch --batch"},
	"lldb":    {given: "-b --batch"},
	"vi":      {}, "vim": {}, "nvim": {}, "view": {}, "gvim": {}, "vimdiff": {}, "vimtutor": {}, "rvim": {}, "rview": {},
	"tar": {only: "-T --files-from"}, "gtar": {only: "-T --files-from"}, "node": {only: "inspect"},
	"bc": {}, "dc": {}, "groff": {}, "troff": {}, "nroff": {}, "eqn": {}, "tbl": {}, "pic": {},
}

// readClientInput reads what is given to such a client in the script itself. A
// file is a program in a file.
func readClientInput(r *reader, name string, args []arg, redirs []*syntax.Redirect) {
	c, ok := clients[name]
	if !ok || c.only != "" && !c.asked(args) {
		return
	}
	if c.reads(args) && r.input {
		r.unsure("an input that may run a command")
	}
	for _, rd := range redirs {
		switch rd.Op {
		case syntax.RdrIn:
			readScriptFile(r, r.word(rd.Word))
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			text, ok := stdin([]*syntax.Redirect{rd})
			if !ok || !c.sql || !harmlessSQL(text) {
				r.unsure("an input that may run a command")
			}
		}
	}
}

// asked reports whether an argument tells a client to obey its input.
func (c client) asked(args []arg) bool {
	return slices.ContainsFunc(args, func(a arg) bool {
		return slices.ContainsFunc(strings.Fields(c.only), func(o string) bool { return strings.HasPrefix(a.text, o) })
	})
}

// reads reports whether a client reads its input, with these arguments.
func (c client) reads(args []arg) bool {
	operands := 0
	for _, a := range args {
		for _, o := range strings.Fields(c.given) {
			if a.text == o || strings.HasPrefix(o, "--") && strings.HasPrefix(a.text, o+"=") {
				return false
			}
		}
		if !strings.HasPrefix(a.text, "-") {
			operands++
		}
	}
	return c.max == 0 || operands <= c.max
}

// telling words of SQL and of the clients' own commands, which run a program or
// write a file.
var sqlTells = regexp.MustCompile(`(?i)\\|\b(program|system|pager|shell|source)\b|\b(edit|writefile|load_extension|fts3_tokenizer)\s*\(|(?m:^\s*!)`)

// dotCommand is a command of sqlite3's own; those that only show something are harmless.
var (
	dotCommand  = regexp.MustCompile(`(?m)^\s*\..*$`)
	dotHarmless = regexp.MustCompile(`^\s*\.(schema|tables?|dump|index(es)?|databases|help|modes?|headers?|width|nullvalue|timer|stats|show|fullschema|explain|eqp|quit|exit|bail|changes|separator|timeout|version)( [\w %*,.'"-]*)?$`)
)

// harmlessSQL reports whether a text of statements surely runs nothing.
func harmlessSQL(text string) bool {
	if sqlTells.MatchString(text) {
		return false
	}
	for _, line := range dotCommand.FindAllString(text, -1) {
		if !dotHarmless.MatchString(line) {
			return false
		}
	}
	return true
}

// readClientArgs reads the statements on the command line of sqlite3 and its kin.
func readClientArgs(r *reader, args []arg) {
	for _, a := range args {
		if isOption(a.text) && isBeginning(strings.TrimLeft(a.text, "-"), "cmd", "init") {
			r.unsure("an option that may run a command") // -cmd, -init
		}
		if !harmlessSQL(a.text) || !harmlessSQL(a.tail) {
			r.unsure("a statement that may run a command")
		}
	}
}

// isBeginning reports whether one of the names begins with the text.
func isBeginning(text string, names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, text) })
}
