package shell

// A command is a simple command that the script runs, directly or through another command.
type command struct {
	name    string // the program's base name; never empty
	path    string // the program's path, if the command word is a path
	outside bool   // the program is neither in a system directory nor in a project's bin directory
	args    []arg
	inputs  []arg // the files named by input redirections
	// possible is true if it is uncertain whether the command runs. For example, a command may
	// begin at any word after `docker exec`.
	possible bool
	// unknown is true if no table of known programs fully describes the program. Such a program may
	// run commands named by its arguments.
	unknown bool
	// unlisted reports whether the program is missing from all tables of known programs.
	unlisted   bool
	by         int // index of the command that runs this one, or -1 if the script runs it directly
	makesCache makesCache
	filter     bool    // standard input is a pipe
	masking    masking // why the script's success does not prove that the command succeeded
	from, to   int     // the command's byte range in the outermost script
}

// A makesCache stores the result of [command.makes], which reports whether a command may create or
// change files.
type makesCache uint8

const (
	unasked makesCache = iota
	makesNone
	makesFiles
)
