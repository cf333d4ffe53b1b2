package shell

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// sqlClients are the clients for which harmlessSQL can recognize harmless input.
var sqlClients = setOf("sqlite3 duckdb psql mysql mariadb sftp")

// harmlessInput reports whether the input from the pipe is literal text without commands, or the
// content of files.
func (r *reader) harmlessInput() bool {
	if r.owner < 1 || r.flow.subprocesses == 0 {
		return false
	}
	c := &r.commands[r.owner-1]
	literal := !slices.ContainsFunc(c.args, func(a arg) bool { return a.kind != literal || !harmlessSQL(a.text) })
	switch c.name {
	case "echo":
		return literal && sqlClients[r.commands[r.owner].name]
	case "printf":
		return literal && len(c.args) == 1 && !strings.ContainsAny(c.args[0].text, `%\\`) && sqlClients[r.commands[r.owner].name]
	case "cat", "zcat", "gunzip", "xzcat", "zstdcat", "pv":
		return len(c.args) > 0 && sqlClients[r.commands[r.owner].name]
	}
	return false
}

// sqlTells matches the words of SQL and of the clients' own commands that run a program or write a
// file.
var sqlTells = regexp.MustCompile(`(?i)\\|\b(program|system|pager|shell|source)\b|\b(edit|writefile|load_extension|fts3_tokenizer)\s*\(|(?m:^\s*!)`)

// dotCommand matches commands of sqlite3's shell, and dotHarmless matches those that only print
// something.
var (
	dotCommand  = regexp.MustCompile(`(?m)^\s*\.`)
	dotHarmless = regexp.MustCompile(`(?m)^[ \t]*\.(schema|tables?|dump|index(es)?|databases|help|modes?|headers?|width|nullvalue|timer|stats|show|fullschema|explain|eqp|quit|exit|bail|changes|separator|timeout|version)( [\w %*,.'"-]*)?$`)
)

// harmlessSQL reports whether statements certainly run nothing.
func harmlessSQL(text string) bool {
	return !sqlTells.MatchString(text) && !dotCommand.MatchString(dotHarmless.ReplaceAllString(text, ""))
}

// readClientArgs reads the statements on the command line of sqlite3 and duckdb.
func readClientArgs(args []arg) (p plan) {
	for _, a := range args {
		name := strings.TrimLeft(a.text, "-")
		shortens := func(option string) bool { return strings.HasPrefix(option, name) }
		if isOption(a.text) && (shortens("cmd") || shortens("init")) {
			p.doubt(inText, "an option that may run a command", args...)
		}
		if !harmlessSQL(a.text) || !harmlessSQL(a.tail) {
			p.doubt(inText, "a statement that may run a command", args...)
		}
	}
	return p
}

// Options of the programs whose scripts are parsed.
var (
	awkOptions = leading("F= v= f=")
	sedOptions = leading("n|quiet|silent E|r|regexp-extended s|separate u|unbuffered z|null-data e|expression= f|file= i|in-place~ posix debug sandbox follow-symlinks l|line-length=")
)

var awks = setOf("awk gawk mawk nawk original-awk")

// readAwk reads an awk program, which can run commands: with system(), with pipes, and with gawk's
// extensions and indirect function calls.
func readAwk(args []arg) (p plan) {
	if asksHelp(args) {
		return p
	}
	found, rest, ok := awkOptions().splitLeading(args)
	if !ok || len(args) > 0 && args[0].text == "--" {
		p.doubt(inText, "awk with options that are not known", args...)
		return p
	}
	for _, o := range found {
		if o.name == "f" {
			p.add(runsFile, "", o.value)
			return p
		}
	}
	if len(rest) == 0 {
		return p
	}
	text := strings.ReplaceAll(rest[0].text, "||", "")
	if rest[0].kind != literal || strings.ContainsAny(text, "|@") || strings.Contains(text, "system") {
		p.doubt(inText, "a program on the command line", args...)
	}
	return p
}

// readSed reads sed scripts, which can run commands with e.
func readSed(args []arg) (p plan) {
	if asksHelp(args) {
		return p
	}
	found, scripts, ok := sedOptions().splitOptions(args, false)
	if !ok || slices.ContainsFunc(found, givenOption.isUnknown) {
		p.doubt(inText, "sed with options that are not known", args...)
		return p
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
				p.doubt(inText, "sed with options that are not known", args...) // as in sed -ie
			}
		}
	}
	for _, s := range scripts {
		if s.kind != literal || !sedHarmless().MatchString(s.text) {
			p.doubt(inText, "a script of sed that is not known", args...)
		}
	}
	return p
}

// sedHarmless matches sed scripts whose only commands print, delete or substitute. The expression
// is large, so it is compiled on first use.
var sedHarmless = sync.OnceValue(sedScripts)

func sedScripts() *regexp.Regexp {
	// part matches text up to a delimiter. It excludes the delimiter from brackets, since versions
	// of sed disagree about it.
	part := func(d string) string { return `(?:[^\n\\\[` + d + `]|\\.|\[[^\n\]` + d + `]*\])*` + d }
	var substitutions []string
	for _, d := range []string{`/`, `\|`, `#`, `,`, `@`, `:`} {
		substitutions = append(substitutions, d+part(d)+part(d))
	}
	address := `(?:[0-9$,~+ ]|/` + part(`/`) + `[IM]*)*[ \t!]*`
	command := `(?:[pdDPnNhHgGxl=z]|[qQ][0-9 ]*|s(?:` + strings.Join(substitutions, "|") + `)[gpiIm0-9]*)`
	return regexp.MustCompile(`(?s)^[ \t\n;}]*(?:(?:` + address + `\{[ \t\n;]*)*` + address + command + `(?:[ \t\n;}]+|$))*$`)
}
