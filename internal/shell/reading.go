package shell

import "slices"

// A Reading is what a script would run. The zero value is that of an empty script.
type Reading struct {
	text     string
	commands []command
	doubts   []doubt
	opaque   bool // one of them is about all commands
	strict   bool
	side     bool // it does something besides running commands
	defined  set  // the functions that the script defines
	mentions mentions
	files    []file

	codePaths []codePath
	moreCode  bool // there are further ones
}

// A command is one that the script runs.
type command struct {
	name    string // the base name of the program, never empty
	path    string // of the program, if the script has one
	local   bool   // that is a program of the project, as in .venv/bin, or of no known place
	strayed bool   // it is of no known place
	args    []arg
	inputs  []arg // files that it gets as its input
	// possible: it is not sure that this is run at all, as with the words
	// that follow `docker exec`.
	possible bool
	// unknown: a program of which the tables say nothing. It may run what its
	// arguments name.
	unknown bool
	// stranger: no table has the program at all.
	stranger bool
	by       int // the command that runs it; -1: the script itself
	maker    maker
	filter   bool // it gets its input from a pipe
	lack     lack // why its success does not follow from that of the script
	from, to int  // the bytes of the script that say it
}

// Bounds of what is read. Beyond them a script is opaque.
const (
	maxScript = 1 << 20 // bytes of a script
	maxWeight = 20_000  // what could nest, see weight
	maxPieces = 25_000  // words and what divides them, see pieces
	maxWork   = 40_000  // pieces, with those of scripts within scripts
	maxKept   = 100_000 // arguments of commands, those of wrappers counted again
	maxLooks  = 100_000 // arguments that are looked at for all patterns together
	maxName   = 1024    // bytes of the name of a command, of which file systems have 255
	maxDepth  = 10_000  // nodes within one another
	maxTexts  = 16      // scripts within scripts, such as sh -c "sh -c ..."

	piecesOfParser = 8 // what it takes to parse a script without words
)

// Options are the options for reading scripts.
type Options struct {
	Strict bool // a script that is not fully understood could run any command, see [Doubt]
	Pass   bool // a [Reader] reports an uncertain match as no match
}

// Read parses a script. It never fails: parts that it cannot understand become doubts.
// The work is bounded: a script that is too long, nested too deeply or of too many
// words is not read at all.
func Read(script string) *Reading { return Options{}.Read(script) }

// Read parses a script as [Read] does.
func (o Options) Read(script string) *Reading {
	r := &reader{budget: 2 * maxScript, strict: o.Strict, outermost: script, owner: -1, files: files{strict: o.Strict}, flow: flow{perhaps: new(bool)}}
	r.script(script)
	r.settle()
	read := &Reading{text: script, commands: r.commands, strict: o.Strict, side: r.side, defined: r.defined, files: r.touched}
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

// settle draws the conclusions that need the whole script.
func (r *reader) settle() {
	r.at, r.owner, r.settling = nil, -1, true
	r.vars.settle(r)
	if r.files.dashed && slices.ContainsFunc(r.commands, func(c command) bool { return !isDeaf(c.name) && c.takesOptions() }) {
		r.unsure("names of files that may be options")
	}
	r.files.runsWritten(r)
	if r.files.obeyed(r.commands) || r.files.runsPackage(r.commands) {
		r.doubts = append(r.doubts, doubt{what: "a file that the script itself writes, and a program that may obey it", reach: mild, owner: -1})
		for _, text := range r.files.data {
			r.mentions.add([]arg{text}, len(r.doubts)-1)
		}
	}
}

// Doubt returns the first reason why the script is not wholly understood; ok is false for a
// script that is. A reading with a doubt about everything can still be a [Match], but never [NoMatch].
func (r *Reading) Doubt() (d Doubt, ok bool) {
	for i := range r.doubts {
		if r.doubts[i].reach == all || !r.opaque {
			return r.told(&r.doubts[i]), true
		}
	}
	return Doubt{}, false
}
