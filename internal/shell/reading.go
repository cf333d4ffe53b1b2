package shell

// A Reading is what a script would run. The zero value is that of an empty script.
type Reading struct {
	commands []command
	doubt    string // why the script is not understood; empty if it is
	side     bool   // it does something besides running commands
	plain    bool   // it is one simple command and nothing else
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
}

// Bounds of what is read. Beyond them a script is opaque.
const (
	maxScript   = 1 << 20 // bytes of a script
	maxWeight   = 20_000  // what could nest, see weight
	maxCommands = 100_000
	maxKept     = 2_000_000 // arguments of commands
	maxDepth    = 10_000    // nodes within one another
	maxTexts    = 16        // scripts within scripts, such as sh -c "sh -c ..."
)

// Read parses a script. It never fails: what it cannot understand makes the
// reading opaque. The time it takes is linear in the length of the script, and
// a script that is too long or nested too deeply is not read at all.
func Read(script string) *Reading {
	r := &reader{budget: 2 * maxScript}
	plain := r.script(script)
	r.settle()
	return &Reading{commands: r.commands, doubt: r.doubt, side: r.side, plain: plain}
}

// settle draws the conclusions that need the whole script.
func (r *reader) settle() {
	if r.vars.evaluated() {
		r.unsure("arithmetic on text")
	}
	if r.vars.arrays.read() {
		r.unsure("an array that is read from text")
	}
	if r.vars.made && r.vars.shells {
		r.unsure("a text that make expands")
	}
	if r.files.runsWritten(r.commands) {
		r.unsure("a program that the script itself writes")
	}
}

// Doubt says in a few words why the script is not wholly understood, for people;
// it is empty for a script that is. A reading with a doubt can still be a
// [Match], but never [NoMatch].
func (r *Reading) Doubt() string { return r.doubt }
