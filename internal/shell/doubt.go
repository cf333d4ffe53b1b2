package shell

import "github.com/petrigate/petrigate/gate"

// A Doubt is an alias of [gate.Doubt].
type Doubt = gate.Doubt

// A reach is the set of commands that a doubt concerns.
type reach uint8

const (
	all    reach = iota // any command
	inText              // commands whose words occur in a text that is not parsed
	strict              // any command under [Options.Strict]; otherwise none, but nothing is certain any more
	mild                // any command under [Options.Strict]; otherwise none
)

// A doubt is a part of a script that could not be fully understood.
type doubt struct {
	what     string
	from, to int // byte range in the outermost script; to is 0 for the whole script
	reach    reach
	owner    int  // index of the command whose arguments caused the doubt; -1: none
	before   int  // number of commands read before it; 0: it concerns the whole script
	spoils   bool // programs of later commands may have been replaced
}
