package shell

// A command is a simple command that the script runs, directly or through another command.
type command struct {
	name    string // base name of the program, never empty
	path    string // path of the program, if the command word is a path
	outside bool   // the program is in no known directory
	args    []arg
	inputs  []arg // redirected input files
	// possible: it is uncertain whether this command runs at all, as with the words after `docker
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

// A maker is the cached result of [command.makes].
type maker uint8

const (
	unasked maker = iota
	makesNone
	makesFiles
)
