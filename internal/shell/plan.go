package shell

// A plan lists, in order, what a program does with its arguments. Functions that interpret
// arguments return plans, and only the reader carries them out.
type plan []step

// A step is one action in a plan.
type step struct {
	do    action
	reach reach  // which commands the uncertainty affects; only for addsDoubt
	what  string // description of the uncertainty, or name of the variable, git setting or git subcommand
	args  []arg
}

// An action is the kind of a step.
type action uint8

const (
	addsDoubt      action = iota
	addsOptions           // args are unknown options, possibly followed by a command
	addsArithmetic        // bash evaluates text as arithmetic
	runsCommand           // args are a command, which does not inherit the program's redirections
	passesCommand         // args are a command, which inherits the program's redirections
	runsScript            // args, joined with spaces, are a script
	runsElsewhere         // args, joined with spaces, are a script for another shell; the program's redirections also apply to it
	mayRunScript          // each argument is a script that may run later
	mayRunArgs            // a command may begin at any argument
	runsFile              // the argument names a file that contains a program
	runsInput             // the standard input is a program
	inBackground          // the commands of the following steps run in the background
	writesFile            // the argument names a file to write
	givesVariable         // programs run with an environment variable that has the argument as its value
	changesPackage        // args are written to package.json
	passesValue           // make or a similar program gets a variable whose value is not literal
	definesAlias          // sets a git setting to the argument; the setting may define an alias
	runsAlias             // runs git with a subcommand, which may be an alias, and the arguments args
)

func (p *plan) add(do action, what string, args ...arg) {
	*p = append(*p, step{do: do, what: what, args: args})
}

// doubtPlan returns a plan whose only step records a part of the script that was not understood;
// see [plan.addDoubt].
func doubtPlan(reach reach, what string, args ...arg) plan {
	return plan{{reach: reach, what: what, args: args}}
}

// addDoubt appends a step that records a part of the script that was not understood. reach
// describes which commands this affects. If it is [inText], these are the commands named in args.
func (p *plan) addDoubt(reach reach, what string, args ...arg) {
	*p = append(*p, doubtPlan(reach, what, args...)...)
}
