package shell

// A plan lists what a program does with its arguments, in order. The functions that interpret
// arguments return plans, and only the reader carries these out.
type plan []step

// A step is one action in a plan.
type step struct {
	do    action
	reach reach  // the reach of the doubt, if the step adds a doubt
	what  string // the reason for a doubt, or the name of a variable or an alias
	args  []arg
}

// An action is a kind of step.
type action uint8

const (
	addsDoubt      action = iota
	addsOptions           // there is a doubt about unknown options in front of a command
	addsArithmetic        // there is a doubt about text that bash evaluates as arithmetic
	runsCommand           // args are a command that has its own input
	passesCommand         // args are a command; the program's redirections also apply to it
	runsScript            // args, joined, are a script
	runsElsewhere         // args, joined, are a script for another shell; the program's redirections also apply to it
	mayRunScript          // the text of an argument is a script that may run later
	mayRunArgs            // any argument may be the beginning of a command
	runsFile              // the argument names a file that contains a program
	runsInput             // the standard input is a program
	inBackground          // the commands that follow run in the background
	writesFile            // the argument names a file that is written
	givesVariable         // programs receive the variable whose name is in what and whose value is in the argument
	changesPackage        // args are written to package.json
	passesValue           // make receives a value that is not literal
	definesAlias          // what names a git setting that may define an alias, and the argument is the setting's value
	runsAlias             // what may be the name of a git alias, and args are the alias's arguments
)

func (p *plan) add(do action, what string, args ...arg) {
	*p = append(*p, step{do: do, what: what, args: args})
}

// doubtful returns a plan that only adds a doubt; see [plan.doubt].
func doubtful(reach reach, what string, args ...arg) plan {
	return plan{{reach: reach, what: what, args: args}}
}

// doubt appends a doubt; see the methods of findings. Only a doubt with the reach [inText] has
// arguments.
func (p *plan) doubt(reach reach, what string, args ...arg) {
	*p = append(*p, doubtful(reach, what, args...)...)
}
