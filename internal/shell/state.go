package shell

import "mvdan.cc/sh/v3/syntax"

// A reader walks through the statements of a script and collects its findings. How a program
// interprets its arguments is in a function of its own, which returns a plan.
type reader struct {
	expander
	flow   flow
	budget int // bytes of script text that may still be parsed
	work   int // pieces parsed so far, including nested scripts

	// covered: readPossible is reading one suffix after another of an argument list as a command,
	// and this is one of them.
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

// withInput calls read. If fed is true, what it reads gets its standard input from a pipe in the
// script.
func (r *reader) withInput(fed bool, read func()) {
	defer func(input, piped bool) { r.input, r.piped = input, piped }(r.input, r.piped)
	r.input, r.piped = r.input || fed, r.piped || fed
	read()
}
