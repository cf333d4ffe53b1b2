package shell

import "slices"

// A Reading is what a script would run. The zero value is that of an empty script.
type Reading struct {
	commands []command
	doubt    string // why the script is not understood; empty if it is
	side     bool   // it does something besides running commands
	plain    bool   // it is one simple command and nothing else
	mentions mentions
	written  *mentions // the words of what it writes to files, if later commands may obey those
}

// A command is one that the script runs.
type command struct {
	name string // the base name of what is run, never empty
	args []arg
	// possible: it is not sure that this is run at all, as with the words
	// that follow `docker exec`.
	possible bool
	// unknown: a program of which the tables say nothing. It may run what its
	// arguments name.
	unknown bool
	// stranger: no table has the program at all.
	stranger bool
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

// Read parses a script. It never fails: what it cannot understand makes the
// reading opaque. The work is bounded: a script that is too long, nested too
// deeply or of too many words is not read at all.
func Read(script string) *Reading {
	r := &reader{budget: 2 * maxScript}
	plain := r.script(script)
	r.settle()
	read := &Reading{commands: r.commands, doubt: r.doubt, side: r.side, plain: plain}
	for _, c := range r.commands {
		if c.unknown {
			read.mentions.add(c.args)
		}
	}
	if r.files.obeyed(r.commands) {
		read.written = &r.files.data
	}
	return read
}

// settle draws the conclusions that need the whole script.
func (r *reader) settle() {
	r.vars.settle(r)
	if r.files.dashed && slices.ContainsFunc(r.commands, func(c command) bool { return !isDeaf(c.name) && c.takesOptions() }) {
		r.unsure("names of files that may be options")
	}
	if r.files.runsWritten(r.commands) {
		r.unsure("a program that the script itself writes")
	}
}

// Doubt says in a few words why the script is not wholly understood, for people;
// it is empty for a script that is. A reading with a doubt can still be a
// [Match], but never [NoMatch].
func (r *Reading) Doubt() string { return r.doubt }
