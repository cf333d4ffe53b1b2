package shell

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// clients are the programs that obey their input, which can run a command of the
// shell's; what the input of sqlClients holds can be told harmless.
var (
	clients    = setOf("sqlite3 duckdb psql mysql mariadb sftp gdb lldb vi vim nvim view gvim vimdiff vimtutor rvim rview bc dc groff troff nroff eqn tbl pic")
	sqlClients = setOf("sqlite3 duckdb psql mysql mariadb sftp")
)

// readClientInput reads what is given to such a client in the script itself. A
// file is a program in a file.
func readClientInput(r *reader, name string, redirs []*syntax.Redirect) {
	if !clients[name] {
		return
	}
	if r.input {
		r.unsure("an input that may run a command")
	}
	for _, rd := range redirs {
		switch rd.Op {
		case syntax.RdrIn:
			readScriptFile(r, r.word(rd.Word))
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			text, ok := stdin([]*syntax.Redirect{rd})
			if !ok || !sqlClients[name] || !harmlessSQL(text) {
				r.unsure("an input that may run a command")
			}
		}
	}
}

// telling words of SQL and of the clients' own commands, which run a program or
// write a file.
var sqlTells = regexp.MustCompile(`(?i)\\|\b(program|system|pager|shell|source)\b|\b(edit|writefile|load_extension|fts3_tokenizer)\s*\(|(?m:^\s*!)`)

// dotCommand is a command of sqlite3's own; those that only show something are harmless.
var (
	dotCommand  = regexp.MustCompile(`(?m)^\s*\.`)
	dotHarmless = regexp.MustCompile(`(?m)^[ \t]*\.(schema|tables?|dump|index(es)?|databases|help|modes?|headers?|width|nullvalue|timer|stats|show|fullschema|explain|eqp|quit|exit|bail|changes|separator|timeout|version)( [\w %*,.'"-]*)?$`)
)

// harmlessSQL reports whether a text of statements surely runs nothing.
func harmlessSQL(text string) bool {
	return !sqlTells.MatchString(text) && !dotCommand.MatchString(dotHarmless.ReplaceAllString(text, ""))
}

// readClientArgs reads the statements on the command line of sqlite3 and its kin.
func readClientArgs(r *reader, args []arg) {
	for _, a := range args {
		if name := strings.TrimLeft(a.text, "-"); isOption(a.text) && (strings.HasPrefix("cmd", name) || strings.HasPrefix("init", name)) {
			r.unsure("an option that may run a command")
		}
		if !harmlessSQL(a.text) || !harmlessSQL(a.tail) {
			r.unsure("a statement that may run a command")
		}
	}
}
