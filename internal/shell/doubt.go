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
	inText              // commands whose words stand in a text that is not read
	strict              // any command under [Options.Strict]; else none, but nothing is certain any more
	mild                // any command under [Options.Strict], and else nothing
)

// A doubt is one that the reading of a script has met.
type doubt struct {
	what     string
	from, to int // bytes of the outermost script; to is 0 for all of it
	reach    reach
	owner    int  // the command whose arguments gave the doubt; -1: no command
	before   int  // the number of commands that were read before it; 0: it is about the whole script
	spoils   bool // later commands may not be the programs that they seem to be
}

// note notes a doubt at the place that is read now. Under strict reading each is about all.
func (r *reader) note(what string, reach reach) {
	switch {
	case r.strict:
		reach = all
	case r.loose && reach == all:
		reach = mild // the commands of a container or a launcher cannot be seen
	}
	if reach == all && r.opaque {
		return // one is enough, and the first is the one to tell
	}
	r.opaque = r.opaque || reach == all
	d := doubt{what: what, reach: reach, owner: r.owner, before: len(r.commands), spoils: reach == all || reach == strict}
	if r.settling {
		d.before = 0
	}
	d.from, d.to = r.span()
	r.doubts = append(r.doubts, d)
}

// unsure notes that the script may run anything.
func (r *reader) unsure(what string) { r.note(what, all) }

// strictly notes something that could replace later programs without naming one in the script.
func (r *reader) strictly(what string) { r.note(what, strict) }

// mildly notes something that could run a program without naming it in the script, and changes
// no other command: a program in a file.
func (r *reader) mildly(what string) { r.note(what, mild) }

// maybe notes arguments with a text that is not parsed and could run a command that it names. Where
// the command gets its input from the script, that is such a text as well.
func (r *reader) maybe(what string, args ...arg) {
	if slices.ContainsFunc(args, func(a arg) bool { return a.pipe }) {
		r.unsure(what)
		return
	}
	r.note(what, inText)
	if r.strict {
		return
	}
	of := len(r.doubts) - 1
	r.mentions.add(args, of)
	if r.input || r.fedText {
		r.mentions.text(r.outermost, of)
		r.mentions.text(unquote.Replace(lines.Replace(r.outermost)), of)
	}
}

// lines makes spaces of what stands for the end of a line.
var lines = strings.NewReplacer(`\n`, " ", `\t`, " ", `\r`, " ")

// span returns the bytes of the command that is read now.
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

// longestCode is how many characters of a command a doubt shows.
const longestCode = 60

// told returns a doubt for people.
func (r *Reading) told(d *doubt) Doubt {
	return Doubt{What: d.what, Code: r.code(d.from, d.to), At: r.character(d.from), Advice: advice(d.what)}
}

// character returns the number of the character at a byte, counted from 1.
func (r *Reading) character(at int) int {
	return utf8.RuneCountInString(r.text[:min(at, len(r.text))]) + 1
}

// code returns a part of the script on one line, shortened.
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
