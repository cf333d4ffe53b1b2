package shell

import (
	"strings"

	"github.com/petrigate/petrigate/gate"
)

// A Doubt explains why an answer about a script is uncertain. It is an alias for [gate.Doubt].
type Doubt = gate.Doubt

// A reach describes which commands may be affected by a part of a script that was not understood.
type reach uint8

const (
	all    reach = iota // the script may run any command; under [Options.Strict], addDoubt always records this reach
	inText              // the script may run commands whose words occur in unparsed text
	strict              // the programs that later commands run may have been replaced
	mild                // only the commands that occur in the unparsed text of this part of the script are affected; see [mentionIndex]
)

// A doubt is a part of a script that was not fully understood.
type doubt struct {
	what     string
	from, to int // byte range in the outermost script; to is 0 if the whole script is in doubt
	reach    reach
	owner    int  // index of the command whose arguments were not understood, or -1
	before   int  // number of commands read before this part of the script, or 0 if the whole script is in doubt
	spoils   bool // the programs that later commands run may have been replaced
}

// adviceTable gives advice about constructs that were not understood. An entry applies to the
// constructs whose description begins with the entry's text. If several entries apply, the longest
// text wins. The first entry applies to all constructs.
var adviceTable = []struct{ what, write string }{
	{"", "write the command plainly, in a separate call"},
	{"a command word", "write the name of the program itself"},
	{"a subcommand that is not literal", "write the subcommand itself"},
	{"an argument that is not literal", "write the arguments themselves"},
	{"a program on the command line", "put the program into a file and run the file"},
	{"a program that is read from standard input", "put the program into a file and run the file"},
	{"a program that the script itself writes", "write the file in a separate call, then run it"},
	{"a file that the script itself writes", "write the file in a separate call"},
	{"a script that is not literal", "write the commands themselves"},
	{"a script that does not parse", "check the quotes, brackets and here documents"},
	{"a shell that reads commands from standard input", "save the script to a file, review it, and run the file"},
	{"a script that may be nested", "make several calls"},
	{"a script with too many words", "make several calls, or put the text into a file"},
	{"a script that is too long", "make several calls, or put the text into a file"},
	{"too ", "make several calls"},
	{"a control character", "remove the character"},
	{"a script that is not UTF-8", "write the script in UTF-8"},
	{"an alias", "write the command that the alias stands for"},
	{"a variable that changes what runs", "omit the variable"},
	{"a sed script", "use sed with plain substitutions, or an editing tool"},
	{"file names that could be interpreted as options", "write ./* for *"},
	{"an unknown program", "name the command in a separate call"},
	{"words that may begin a command", "name the command in a separate call"},
}

// advice suggests what to write instead of a construct that was not understood.
func advice(what string) string {
	best := 0
	for i, a := range adviceTable {
		if strings.HasPrefix(what, a.what) && len(a.what) >= len(adviceTable[best].what) {
			best = i
		}
	}
	return adviceTable[best].write
}

// An Outcome says whether a script runs a command or touches a file.
type Outcome uint8

// The possible outcomes of a search in a script.
const (
	NoMatch Outcome = iota // nothing indicates that the script runs the command or touches the file
	Match                  // the script certainly runs the command or touches the file
	Opaque                 // it is uncertain whether the script runs the command or touches the file
)

// String returns "no match", "match" or "opaque".
func (o Outcome) String() string { return [...]string{"no match", "match", "opaque"}[o] }

// or returns Match if either of the outcomes is Match; otherwise, it returns Opaque if either is
// Opaque.
func (o Outcome) or(other Outcome) Outcome {
	if o == Match || other == Match {
		return Match
	}
	return max(o, other)
}

// and returns NoMatch if either of the outcomes is NoMatch; otherwise, it returns Opaque if either
// is Opaque.
func (o Outcome) and(other Outcome) Outcome {
	if o == NoMatch || other == NoMatch {
		return NoMatch
	}
	return max(o, other)
}
