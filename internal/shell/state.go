package shell

import "mvdan.cc/sh/v3/syntax"

// A reader walks through the statements and words of a script and collects its findings.
// How a program or a builtin interprets its arguments is in a function of its own:
// readGit, readSed, readXargs.
type reader struct {
	findings
	defined set // functions that the script defines
	flow    flow

	depth  int  // nesting depth of nodes
	texts  int  // nesting depth of scripts
	budget int  // bytes of script text that may still be parsed
	posix  bool // the shell that runs this part does not have bash's extensions

	// covered: readPossible is reading one suffix after another of an argument list as a command,
	// and this is one of them.
	covered bool
	// recognized: a table has the program being read, though its arguments may still name a
	// command.
	recognized bool
	argCount   int // arguments of all commands; arguments of wrappers count again for the wrapped command
	loopBodies int // loop bodies read so far, once per word
	work       int // pieces parsed so far, including nested scripts

	vars       variables
	files      files
	gitAliases map[string]string // aliases of git that the script defines
	aliases    scriptAliases
	functions  map[string][]*syntax.Stmt // bodies of the functions that use their arguments
	body       *body                     // body of a function or a trap that is being read; nil: none
	calling    map[string][]arg          // arguments of the function calls that are being read, by function name
	calls      int                       // function bodies read for calls so far
	called     int                       // bytes of those bodies

	source      string // text of the innermost script
	pipe        pipeline
	outerRedirs []*syntax.Redirect // redirections of the calling program: ssh host 'bash -s' < x.sh
	piped       bool               // standard input is a pipe
	expanding   bool               // within ${...} in double quotes, which quotedExpansion has checked as a whole
}

// Bounds of the work. A script that exceeds one of them is opaque.
const (
	maxScript = 1 << 20 // bytes of a script
	maxWeight = 20_000  // estimated nesting, see weight
	maxPieces = 25_000  // words and separators, see pieces
	maxWork   = 40_000  // pieces, including those of nested scripts
	maxArgs   = 100_000 // arguments of all commands; arguments of wrappers count again for the wrapped command
	maxLooks  = 100_000 // arguments compared with all patterns together
	maxName   = 1024    // bytes of a command name; file systems allow 255
	maxDepth  = 10_000  // depth of nested nodes
	maxTexts  = 16      // depth of nested scripts, such as sh -c "sh -c ..."

	piecesOfParser = 8 // pieces charged for each call of the parser, even for an empty script
)

// A body is a function body being read: once at the definition, and again at each call if the
// function uses its arguments.
type body struct {
	definition    bool
	trap          bool // the action of a trap, not a function
	usesArguments bool // the body uses the arguments of the function
	texts         int  // nesting depth of scripts at the body
	begin         flow
	owner         int // index of the calling command
}

// A pipeline is the part of a pipe before the current element.
type pipeline struct {
	from     int // index of its first command
	elements int // number of elements if all are simple commands; otherwise 0 or less
}

// enter descends one node and reports whether it may; false means too deep. Call leave after every
// enter that returns true.
func (r *reader) enter() bool {
	if r.depth >= maxDepth {
		r.doubtAll("too deeply nested")
		return false
	}
	r.depth++
	return true
}

func (r *reader) leave() { r.depth-- }

// withInput calls read. If fed is true, what it reads gets its standard input from a pipe in the
// script.
func (r *reader) withInput(fed bool, read func()) {
	defer func(input, piped bool) { r.input, r.piped = input, piped }(r.input, r.piped)
	r.input, r.piped = r.input || fed, r.piped || fed
	read()
}
