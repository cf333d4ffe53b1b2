package policy

import (
	"cmp"
	"strconv"
	"strings"
	"unicode"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/shell"
	"github.com/petrigate/petrigate/rules"
)

// netMaps converts the map entries of a hand-written net to [gate.Map] values.
type netMaps struct {
	b *builder
	n *config.Net
}

// entries converts a map entry of the net. It returns one [gate.Map] for each file glob of the
// entry, or a single one if the entry has no file globs.
func (x netMaps) entries(m config.Map) []gate.Map {
	if len(m.Reads)+len(m.Writes) == 0 {
		return []gate.Map{x.entry(m)}
	}
	reads := list.Map(m.Reads, func(glob string) gate.Map { return x.touching(m, shell.Reads, glob) })
	return append(reads, list.Map(m.Writes, func(glob string) gate.Map { return x.touching(m, shell.Writes, glob) })...)
}

// touching returns a [gate.Map] that matches if the script in the entry's field accesses a file
// that matches glob.
func (x netMaps) touching(m config.Map, access shell.Access, glob string) gate.Map {
	out := gate.Map{Tool: m.Tool, Field: cmp.Or(m.Field, "field"), As: m.As, Rule: position(m.Position)}
	number, err := x.reader().Files(access, glob)
	if err != nil {
		x.b.inNet(x.n, problem(diag.Error, BadCommand, at(m.Of(access.String(), glob), m.Position), err.Error(), ""))
		out.Match = func(string) bool { return false } // matches nothing; the error has already been reported
		return out
	}
	out.Reader, out.Pattern, out.Source = x.b.scripts, number, access.String()+" "+written([]string{glob})
	return out
}

// reader returns the reader used for all scripts.
func (x netMaps) reader() *shell.Reader {
	if x.b.scripts == nil {
		x.b.scripts = x.b.source.scriptOptions().NewReader()
	}
	return x.b.scripts
}

// entry converts a map entry without file globs to a [gate.Map].
func (x netMaps) entry(m config.Map) gate.Map {
	out := gate.Map{Tool: m.Tool, Field: m.Field, As: m.As, Rule: position(m.Position)}
	switch {
	case len(m.Runs) > 0:
		x.matchCommand(m, &out)
	case m.When.Text != "":
		x.matchExpression(m, &out)
	case m.Pattern != "":
		x.pattern(m, &out)
	default:
		out.Match, out.Source = rules.MatchWord(m.Word), m.Word
	}
	if out.Match == nil && out.Reader == nil {
		out.Field, out.Match = cmp.Or(out.Field, "field"), func(string) bool { return false } // matches nothing; the error has already been reported
	}
	return out
}

func (x netMaps) pattern(m config.Map, out *gate.Map) {
	match, err := rules.MatchRegex(m.Pattern)
	if err != nil {
		x.b.inNet(x.n, problem(diag.Error, BadPattern, at(m.Of("pattern", ""), m.Position), err.Error(), "patterns are RE2"))
	}
	out.Match, out.Source = match, "/"+m.Pattern+"/"
}

// matchCommand sets up a [gate.Map] to match scripts that run the entry's command.
func (x netMaps) matchCommand(m config.Map, out *gate.Map) {
	number, err := x.reader().Command(m.Runs, m.Exactly)
	if err != nil {
		x.b.inNet(x.n, problem(diag.Error, BadCommand, at(m.Of("runs", m.Runs[0]), m.Position), err.Error(), ""))
		return
	}
	out.Reader, out.Pattern, out.Source = x.b.scripts, number, "runs "+map[bool]string{true: "exactly "}[m.Exactly]+written(m.Runs)
}

// written returns a command as a string, with quotes around the words that need them.
func written(words []string) string {
	var all []string
	for _, word := range words {
		if word == "" || strings.ContainsFunc(word, func(r rune) bool { return unicode.IsSpace(r) || r == '"' }) {
			word = strconv.Quote(word)
		}
		all = append(all, word)
	}
	return strings.Join(all, " ")
}

// matchExpression sets up a [gate.Map] to match calls that satisfy the entry's expression.
func (x netMaps) matchExpression(m config.Map, out *gate.Map) {
	number, err := x.b.expressions().Expr(m.When.Text)
	if err != nil {
		x.b.inExpression(x.n, m.When, err)
		return
	}
	out.Field, out.Reader, out.Pattern, out.Source = "", x.b.calls, number, "when "+m.When.Text
}
