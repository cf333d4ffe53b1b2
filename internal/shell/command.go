package shell

// A command is a simple command that the script runs, directly or through another command.
type command struct {
	name    string // the program's base name; never empty
	path    string // the program's path, if the command word is a path
	outside bool   // the program is not in any known directory
	args    []arg
	inputs  []arg // the files that input redirections name
	// possible means that it is uncertain whether this command runs at all. An example is the words
	// after `docker exec`.
	possible bool
	// unknown means that the tables do not describe the program fully, so that it may run the
	// commands that its arguments name.
	unknown bool
	// unlisted means that the program is not in any table.
	unlisted bool
	by       int // the index of the command that runs this one; -1: the script itself runs it
	maker    maker
	filter   bool    // the standard input of the command is a pipe
	masking  masking // the reason why the script's success does not prove the command's success
	from, to int     // the command's byte range in the outermost script
}

// A maker is the cached result of [command.makes].
type maker uint8

const (
	unasked maker = iota
	makesNone
	makesFiles
)
