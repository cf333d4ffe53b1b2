package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// shellOptions lists the options that shells accept.
var shellOptions = lazyOptions("a b c e f h l m n p r s t u v x C E P T o= O= login noprofile norc posix restricted verbose noediting")

// shells lists the shells whose scripts are parsed, and foreignShells the shells that have a
// different language.
var (
	shells        = setOf("sh bash dash ash ksh mksh lksh pdksh oksh loksh rbash rksh yash posh zsh hush")
	foreignShells = setOf("fish csh tcsh rc es nu xonsh elvish oil osh ysh pwsh powershell cmd")
)

// readShell reads a command that starts a shell. It also reads the shell's script if the script
// follows -c or comes from standard input. For one of the [foreignShells], it only records that the
// script was not understood. If the script is in a file, readShell only records the file.
func (r *reader) readShell(name string, args []arg, redirs []*syntax.Redirect) {
	if asksHelp(args) {
		return
	}
	if foreignShells[name] {
		if len(args) == 0 || args[0].kind != literal || args[0].text == "" || begins(args[0].text, "- /") {
			r.doubtForeign(args)
		} else {
			r.readScriptFile(args[0])
		}
		return
	}
	found, rest, ok := shellOptions().splitLeading(args)
	if !ok || len(rest) > 0 && strings.HasPrefix(rest[0].text, "+") {
		switch notLiteral := len(rest) > 0 && rest[0].kind != literal; {
		case notLiteral && has(found, "c"):
			r.doubtAll("a script that is not literal")
		case notLiteral:
			r.readScriptFile(rest[0])
		default:
			r.doubtText("a shell with unknown options", args...)
		}
		return
	}
	defer func(before flow, vars values) { r.flow, r.vars.values = before, vars }(r.flow, r.vars.values)
	r.flow.errexit, r.flow.pipefail, r.flow.uncertain = has(found, "e"), false, new(bool)
	r.vars.values = values{}
	for _, o := range found {
		if o.name == "o" {
			r.readShellOptions("", []arg{o.value})
			r.flow.setOption(o.value.text, true)
		}
	}
	if slices.ContainsFunc(found, func(o givenOption) bool { return o.name == "n" || o.value.text == "noexec" }) {
		r.flow.mask(unrun)
	}
	switch {
	case has(found, "c") && len(rest) > 0:
		r.readDialect(name, rest[0])
	case len(rest) > 0 && !has(found, "s"):
		r.readScriptFile(rest[0])
	default:
		r.readScriptInput(name, redirs)
	}
}

// readDialect reads a script for a shell that is similar to bash. If that shell reads part of the
// script differently than bash, readDialect records that the script might run any command; see
// [doubt].
func (r *reader) readDialect(name string, script arg) {
	before := r.posix
	r.posix = name != "bash" && name != "rbash"
	if name == "zsh" && (strings.ContainsAny(script.text, "(") || strings.Contains(" "+script.text, " =")) {
		r.doubtAll(foreignScript)
	}
	r.readJoined(script)
	r.posix = before
}

// readScriptInput reads the script that a shell gets on standard input.
func (r *reader) readScriptInput(name string, redirs []*syntax.Redirect) {
	text, ok := stdin(redirs)
	if !ok && !r.strict && r.readsFile(redirs) {
		return
	}
	if !ok {
		r.doubtAll("a shell that reads commands from standard input")
		return
	}
	for _, word := range []string{"read", "<<", "head", "dd", "mapfile"} {
		if strings.Contains(text, word) {
			// A command such as read may consume part of the script, for example the comment sign
			// in "# rm x". The shell then runs rm.
			r.doubtAll("a script that reads its own text")
		}
	}
	r.readDialect(name, arg{text: text})
}

// readsFile reports whether a shell reads its script from files through standard input, as in bash
// < x.sh or cat x.sh | bash. If so, it records that the script runs these files.
func (r *reader) readsFile(redirs []*syntax.Redirect) bool {
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
		r.readScriptFile(a)
	}
	return true
}

// stdin returns the text that a statement gets on standard input from a here document (<<) or a
// here string (<<<). ok is false if the text is not literal, or if standard input is anything else.
func stdin(list []*syntax.Redirect) (text string, ok bool) {
	var found *syntax.Redirect
	for _, rd := range list {
		switch rd.Op {
		case syntax.DplOut, syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.AppAll, syntax.RdrClob:
			if rd.N == nil || rd.N.Value != "0" {
				continue
			}
		}
		if found != nil || rd.N != nil && rd.N.Value != "0" {
			return "", false
		}
		found = rd
	}
	if found == nil {
		return "", false
	}
	switch found.Op {
	case syntax.WordHdoc:
		return constant(found.Word, (*expander).word)
	case syntax.Hdoc, syntax.DashHdoc:
		return hereText(found)
	}
	return "", false
}

// hereText returns the text of a here document. If the delimiter is quoted, the text is taken
// literally.
func hereText(rd *syntax.Redirect) (text string, ok bool) {
	if rd.Hdoc == nil {
		return "", true
	}
	if !isQuoted(rd.Word) {
		return constant(rd.Hdoc, (*expander).hereDoc)
	}
	text = rd.Hdoc.Lit()
	return text, text != "" || len(rd.Hdoc.Parts) == 0
}

// constant returns the text of a word without expansions. For any other word, ok is false.
func constant(w *syntax.Word, read func(*expander, *syntax.Word) arg) (text string, ok bool) {
	if !isText(w.Parts) {
		return "", false
	}
	a := read(&expander{}, w)
	return a.text, a.kind == literal
}

// readClientInput reads the input that the script passes to one of the [clients]. An input file
// counts as a file that contains a program.
func (r *reader) readClientInput(name string, redirs []*syntax.Redirect) {
	if !clients[name] {
		return
	}
	if r.input && !r.harmlessInput() {
		r.doubtAll("an input that may run a command")
	}
	for _, rd := range redirs {
		switch rd.Op {
		case syntax.RdrIn:
			r.readScriptFile(r.word(rd.Word))
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			text, ok := stdin([]*syntax.Redirect{rd})
			if !ok || !sqlClients[name] || !harmlessSQL(text) {
				r.doubtText("an input that may run a command", arg{text: text})
			}
		}
	}
}

// harmlessInput reports whether the input that a pipe feeds to one of the [sqlClients] can be
// assumed to run no commands. A single simple command must produce this input. It must print
// literal text that [harmlessSQL] accepts, or the contents of files. harmlessInput records these
// files as files that contain programs. For any other client, it returns false.
func (r *reader) harmlessInput() bool {
	if r.owner < 1 || r.flow.subprocesses == 0 || r.pipe.elements != 1 {
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
		for _, a := range c.args {
			r.readScriptFile(a)
		}
		return len(c.args) > 0 && sqlClients[r.commands[r.owner].name]
	}
	return false
}
