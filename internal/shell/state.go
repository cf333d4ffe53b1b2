package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A reader walks through a script's statements and collects findings about the script. For each
// kind of program, a function interprets the program's arguments and returns a [plan].
type reader struct {
	expander
	flow   flow
	budget int // number of bytes of script text that may still be parsed
	work   int // number of pieces (words and separators) parsed so far, including those of nested scripts

	// covered is true while readPossible runs. It prevents nested calls from reading the same
	// arguments again. It is false while a nested script is read.
	covered bool
	// recognized is true if the tables describe the command being read as a launcher, an
	// interpreter, or a tool. Tools of the kind [container] do not count.
	recognized bool
	loopBodies int // number of words of for loops read so far; see [maxLoopBodies]

	gitAliases map[string]string // git aliases defined by the script
	aliases    scriptAliases
	functions  map[string][]*syntax.Stmt // bodies of functions that use their arguments
	calling    map[string][]arg          // arguments of the function calls that are being read, keyed by function name
	calls      int                       // number of function bodies read for calls so far
	called     int                       // total size, in bytes, of the function bodies read for calls so far

	pipe        pipeline
	outerRedirs []*syntax.Redirect // redirections of the program that runs this shell, as in ssh host 'bash -s' < x.sh
	piped       bool               // whether standard input is a pipe
}

// A pipeline describes the part of a pipeline before the current command.
type pipeline struct {
	from     int // index of the first command in the pipeline
	elements int // number of commands before the current one; negative unless all of them are simple commands without redirections
}

// withInput calls the function read, which reads commands. If fed is true, their standard input
// counts as a pipe.
func (r *reader) withInput(fed bool, read func()) {
	defer func(input, piped bool) { r.input, r.piped = input, piped }(r.input, r.piped)
	r.input, r.piped = r.input || fed, r.piped || fed
	read()
}

// scriptAliases maps the name of each alias that the script defines to the alias's words. It leaves
// out aliases that the reader does not expand; see [scriptAliases.define].
type scriptAliases map[string][]string

// use reports whether the given name is an alias, or a program that an alias runs.
func (a scriptAliases) use(name string) bool {
	for alias, words := range a {
		if alias == name || words[0] == name {
			return true
		}
	}
	return false
}

// define reads alias definitions. Some shells, such as zsh, expand an alias in the same script that
// defines it. If the alias stands for a program and plain words, the reader expands it, too; any
// other alias makes all later commands uncertain.
func (a *scriptAliases) define(r *findings, builtin string, args []arg) {
	for _, def := range args {
		name, text, defines := strings.Cut(def.text, "=")
		words := strings.Fields(text)
		switch {
		case def.kind == literal && !defines && (builtin != "hash" && !strings.HasPrefix(name, "-") || name == "-r" || name == "-p" || name == "-a"):
		case builtin != "alias" || def.kind != literal || r.strict || len(words) == 0 || strings.TrimSpace(text) != text ||
			strings.Trim(text, plainLetters+" ") != "" || strings.Contains(words[0], "=") || strings.Trim(name, plainLetters) != "" || strings.HasPrefix(name, "-") ||
			shellWords[name] || shellWords[words[0]] || r.defined[name] || r.defined[words[0]] || len(*a) >= maxElements ||
			slices.ContainsFunc(r.commands, func(c command) bool { return c.name == name }):
			r.doubtAll("an alias")
		default:
			r.defined.add(name)
			put((*map[string][]string)(a), name, words)
		}
	}
}
