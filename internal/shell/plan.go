package shell

// A plan lists what a program does with its arguments, in order. The functions that interpret the
// arguments return plans, and only the reader acts on them.
type plan []step

// A step is one action of a program.
type step struct {
	do    action
	reach reach  // of a doubt
	what  string // the reason for a doubt, or the name of a variable or an alias
	args  []arg
}

// An action is a kind of step.
type action uint8

const (
	addsDoubt      action = iota
	addsOptions           // a doubt about unknown options before a command
	addsArithmetic        // a doubt about text that bash evaluates as arithmetic
	runsCommand           // args are a command, with input of its own
	passesCommand         // args are a command that inherits the program's redirections
	runsScript            // the joined args are a script
	runsElsewhere         // the joined args are a script for another shell, which inherits the program's redirections
	mayRunScript          // the text of an argument is a script that may run later
	mayRunArgs            // a command may begin at any argument
	runsFile              // the argument names a program file
	runsInput             // standard input is a program
	inBackground          // the following commands run in the background
	writesFile            // the argument names a file that is written
	givesVariable         // programs get the variable named by what; its value is the argument
	changesPackage        // args are written to package.json
	passesValue           // make gets a value that is not literal
	definesAlias          // what names a git setting, which may define an alias, and the argument is its value
	runsAlias             // what may name a git alias, and args are its arguments
)

func (p *plan) add(do action, what string, args ...arg) {
	*p = append(*p, step{do: do, what: what, args: args})
}

// doubt appends a doubt, see the methods of findings. Only [inText] has arguments.
func (p *plan) doubt(reach reach, what string, args ...arg) {
	*p = append(*p, step{reach: reach, what: what, args: args})
}
