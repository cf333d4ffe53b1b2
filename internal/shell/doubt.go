package shell

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/petrigate/petrigate/gate"
)

// A Doubt is [gate.Doubt].
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

// addDoubt adds a doubt at the current place. Under strict reading, every doubt concerns all
// commands.
func (r *reader) addDoubt(what string, reach reach) {
	switch {
	case r.strict:
		reach = all
	case r.tentative && reach == all:
		reach = mild // the commands of a container or a launcher cannot be seen
	}
	if reach == all && r.opaque {
		return // the first one is reported
	}
	r.opaque = r.opaque || reach == all
	d := doubt{what: what, reach: reach, owner: r.owner, before: len(r.commands), spoils: reach == all || reach == strict}
	if r.settling {
		d.before = 0
	}
	d.from, d.to = r.span()
	r.doubts = append(r.doubts, d)
}

// doubtAll adds a doubt that the script may run anything.
func (r *reader) doubtAll(what string) { r.addDoubt(what, all) }

// doubtStrict adds a doubt about something that could replace later programs without naming one in
// the script.
func (r *reader) doubtStrict(what string) { r.addDoubt(what, strict) }

// doubtMild adds a doubt about something that could run a program not named in the script, but
// changes no other command, such as a program in a file.
func (r *reader) doubtMild(what string) { r.addDoubt(what, mild) }

// doubtText adds a doubt about arguments with a text that is not parsed and could run a command
// named in it. If standard input comes from the script, the whole script is such a text too.
func (r *reader) doubtText(what string, args ...arg) {
	if slices.ContainsFunc(args, func(a arg) bool { return a.pipe }) {
		r.doubtAll(what)
		return
	}
	r.addDoubt(what, inText)
	if r.strict {
		return
	}
	of := len(r.doubts) - 1
	r.mentions.add(args, of)
	if r.input || r.textInput {
		r.mentions.text(r.outermost, of)
		r.mentions.text(unquote.Replace(lines.Replace(r.outermost)), of)
	}
}

// lines replaces escape sequences for white space by spaces.
var lines = strings.NewReplacer(`\n`, " ", `\t`, " ", `\r`, " ")

// span returns the byte range of the statement being read.
func (r *reader) span() (from, to int) {
	if r.at == nil {
		return 0, 0
	}
	from, to = int(r.at.Pos().Offset()), int(r.at.End().Offset()) //nolint:gosec // within the script
	if from >= to || to > len(r.outermost) {
		return 0, 0
	}
	return from, to
}

// longestCode is the maximum number of characters of a command shown in a doubt.
const longestCode = 60

// exported converts a doubt to its exported form.
func (r *Reading) exported(d *doubt) Doubt {
	return Doubt{What: d.what, Code: r.code(d.from, d.to), At: r.character(d.from), Advice: advice(d.what)}
}

// character converts a byte offset to the number of a character, counted from 1.
func (r *Reading) character(at int) int {
	return utf8.RuneCountInString(r.text[:min(at, len(r.text))]) + 1
}

// code returns a part of the script for display: its first line, shortened.
func (r *Reading) code(from, to int) string {
	if to == 0 {
		return ""
	}
	line, _, more := strings.Cut(strings.TrimRight(strings.TrimSpace(r.text[from:to]), ";"), "\n")
	if utf8.RuneCountInString(line) > longestCode {
		return string([]rune(line)[:longestCode-3]) + "..."
	}
	if more {
		return line + " ..."
	}
	return line
}
