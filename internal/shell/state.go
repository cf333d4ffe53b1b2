package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A reader walks through a script's statements and collects its findings. A function for each
// program interprets the program's arguments and returns a plan.
type reader struct {
	expander
	flow   flow
	budget int // bytes of script text that may still be parsed
	work   int // pieces parsed so far, including nested scripts

	// covered: readPossible is reading every suffix of an argument list as a command, and this is
	// one of the suffixes.
	covered bool
	// recognized: a table has the program being read, though its arguments may still name a
	// command.
	recognized bool
	loopBodies int // loop bodies read so far, once per word

	gitAliases map[string]string // aliases of git that the script defines
	aliases    scriptAliases
	functions  map[string][]*syntax.Stmt // bodies of the functions that use their arguments
	calling    map[string][]arg          // arguments of the function calls that are being read, by function name
	calls      int                       // function bodies read for calls so far
	called     int                       // bytes of those bodies

	pipe        pipeline
	outerRedirs []*syntax.Redirect // redirections of the calling program: ssh host 'bash -s' < x.sh
	piped       bool               // standard input is a pipe
}

// A pipeline is the part of a pipe before the current element.
type pipeline struct {
	from     int // index of its first command
	elements int // number of elements if all are simple commands; otherwise 0 or less
}

// withInput calls read. If fed is true, the commands that read encounters get their standard input
// from a pipe in the script.
func (r *reader) withInput(fed bool, read func()) {
	defer func(input, piped bool) { r.input, r.piped = input, piped }(r.input, r.piped)
	r.input, r.piped = r.input || fed, r.piped || fed
	read()
}

// scriptAliases maps each alias that the script defines, and that is followed, to its words.
type scriptAliases map[string][]string

// use reports whether name is an alias, or a program that an alias runs.
func (a scriptAliases) use(name string) bool {
	for alias, words := range a {
		if alias == name || words[0] == name {
			return true
		}
	}
	return false
}

// define reads alias definitions. zsh and others expand an alias in the script that defines it.
// An alias for a program with plain words is followed; any other alias makes all later commands
// uncertain.
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
			if *a == nil {
				*a = make(scriptAliases)
			}
			r.defined.add(name)
			(*a)[name] = words
		}
	}
}
