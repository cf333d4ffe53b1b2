package shell

import "slices"

// A Reading is the result of reading a script: the commands that it runs, the files that it
// touches, and doubts. The zero value is the reading of an empty script.
type Reading struct {
	text        string
	commands    []command
	doubts      []doubt
	opaque      bool // a doubt concerns all commands
	strict      bool
	sideEffects bool // the script does something besides running commands: it writes a file, sets a variable, ...
	defined     set  // functions that the script defines
	mentions    mentions
	files       []file

	codePaths []codePath
	moreCode  bool // codePaths is incomplete
}

// A command is a simple command that the script runs, directly or through another command.
type command struct {
	name    string // base name of the program, never empty
	path    string // path of the program, if the command word is a path
	local   bool   // the program is in a bin directory of a project, such as .venv/bin
	outside bool   // the program is in no known directory
	args    []arg
	inputs  []arg // redirected input files
	// possible: it is uncertain that this command runs at all, as with the words after `docker
	// exec`.
	possible bool
	// unknown: the tables do not describe the program fully. It may run what its arguments name.
	unknown bool
	// unlisted: the program is in no table.
	unlisted bool
	by       int // index of the command that runs this one; -1: the script itself
	maker    maker
	filter   bool    // its standard input is a pipe
	masking  masking // why the script's success does not prove this command's success
	from, to int     // byte range in the outermost script
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

// Options control how scripts are read. The zero value is the default.
type Options struct {
	Strict bool // treat a script that is not fully understood as able to run any command, see [Doubt]
	Pass   bool // make a [Reader] report an uncertain match as no match
}

// Read parses a script with default options. It never fails: parts that it cannot understand become
// doubts. The work is bounded: a script that is too long, nested too deeply or has too many words
// is not read at all, and is opaque.
func Read(script string) *Reading { return Options{}.Read(script) }

// Read parses a script, see [Read].
func (o Options) Read(script string) *Reading {
	r := &reader{budget: 2 * maxScript, strict: o.Strict, outermost: script, owner: -1, files: files{strict: o.Strict}, flow: flow{uncertain: new(bool)}}
	r.script(script)
	r.settle()
	read := &Reading{text: script, commands: r.commands, strict: o.Strict, sideEffects: r.sideEffects, defined: r.defined, files: r.touched}
	for i := range r.commands {
		if c := &r.commands[i]; c.unknown && len(c.args) > 0 {
			r.doubts = append(r.doubts, doubt{what: "an unknown program that may run its arguments", reach: mild, from: c.from, to: c.to, owner: i, before: i})
			r.mentions.add(c.args, len(r.doubts)-1)
		}
	}
	read.doubts, read.opaque, read.mentions = r.doubts, r.opaque, r.mentions
	read.codePaths, read.moreCode = r.codePaths()
	return read
}

// settle adds the doubts that depend on the whole script.
func (r *reader) settle() {
	r.at, r.owner, r.settling = nil, -1, true
	r.vars.settle(r)
	if r.files.dashed && slices.ContainsFunc(r.commands, func(c command) bool { return !isSelfContained(c.name) && c.takesOptions() }) {
		r.doubtAll("names of files that may be options")
	}
	r.files.runsWritten(r)
	if r.files.mayBeObeyed(r.commands) || r.files.runsPackage(r.commands) {
		r.doubts = append(r.doubts, doubt{what: "a file that the script itself writes, and a program that may obey it", reach: mild, owner: -1})
		for _, text := range r.files.data {
			r.mentions.add([]arg{text}, len(r.doubts)-1)
		}
	}
}

// Doubt returns the first reason why the script is not fully understood. A doubt about the whole
// script takes precedence; such a reading can still give [Match], but never [NoMatch]. ok is false
// if there are no doubts.
func (r *Reading) Doubt() (d Doubt, ok bool) {
	for i := range r.doubts {
		if r.doubts[i].reach == all || !r.opaque {
			return r.exported(&r.doubts[i]), true
		}
	}
	return Doubt{}, false
}
