package shell

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// An Outcome says whether a script runs a command.
type Outcome uint8

// The outcomes. Doubt is Opaque.
const (
	NoMatch Outcome = iota // bash certainly does not run it
	Match                  // the script carries it
	Opaque                 // bash may run it, or not
)

// String returns "no match", "match" or "opaque".
func (o Outcome) String() string {
	switch o {
	case NoMatch:
		return "no match"
	case Match:
		return "match"
	}
	return "opaque"
}

// A Pattern is a command to look for, as in `runs git push --force`. It is made
// by [Compile]; the zero value matches nothing.
type Pattern struct {
	name  string
	words []string
	lead  int // how many of the words come before the first option
}

// Compile makes a pattern of words. The first is the name of the command; the
// others narrow it: each has to be an argument of the command, in this order,
// whatever stands between them.
func Compile(words []string) (Pattern, error) {
	if len(words) == 0 || words[0] == "" {
		return Pattern{}, errors.New("a pattern of commands needs the name of a command")
	}
	if strings.Contains(words[0], "/") {
		return Pattern{}, fmt.Errorf("%q is a path; write the name of the command alone, here %q", words[0], path.Base(words[0]))
	}
	p := Pattern{name: words[0], words: append([]string(nil), words[1:]...)}
	for p.lead < len(p.words) && !strings.HasPrefix(p.words[p.lead], "-") {
		p.lead++
	}
	return p, nil
}

// String returns the words of the pattern.
func (p Pattern) String() string {
	return strings.Join(append([]string{p.name}, p.words...), " ")
}

// Runs says whether the script runs what p describes: [Match] if one of its
// commands surely carries p, [Opaque] if none does and one may, [NoMatch] if
// none can.
func (r *Reading) Runs(p Pattern) Outcome {
	best := NoMatch
	if p.name == "" {
		return best
	}
	for i := range r.commands {
		switch r.commands[i].carries(p) {
		case Match:
			return Match
		case Opaque:
			best = Opaque
		}
	}
	if r.doubt != "" {
		return Opaque
	}
	return best
}

// Only says whether the script certainly runs nothing but what the patterns
// describe. Every command has to carry one of them, wrappers such as sudo
// included; the script may not write to a file (other than /dev/null), assign a
// variable or define a function, and nothing of it may be opaque.
// The words of a pattern up to its first option have to be the first arguments
// here: `git push status` is no certain `git status`.
func (r *Reading) Only(p ...Pattern) bool {
	if r.doubt != "" || r.side || len(r.commands) == 0 {
		return false
	}
	for i := range r.commands {
		if !r.commands[i].surelyOneOf(p) {
			return false
		}
	}
	return true
}

// Evidence says whether the success of the script shows that p was done. The
// script has to be one simple command of literal words, with nothing around it
// that changes what it does or what its success says: no pipe, list, `!`, `&`,
// substitution, assignment, file redirected or wrapper, and no argument that
// keeps it from its work (--help, --version, --dry-run, /dev/null and their like).
// As with [Reading.Only], the words of p have to lead.
func (r *Reading) Evidence(p Pattern) bool {
	if r.doubt != "" || r.side || !r.plain || len(r.commands) != 1 {
		return false
	}
	c := &r.commands[0]
	for _, a := range c.args {
		if a.kind != literal || isIdle(a.text) {
			return false
		}
	}
	return c.surelyOneOf([]Pattern{p})
}

// isIdle reports whether a command with this argument may do nothing.
func isIdle(arg string) bool {
	switch arg {
	case "-h", "-?", "-V", "-help", "-version", "--usage", "--dry-run", "--dryrun", "--just-print", "--recon":
		return true
	}
	if arg == "--h" || shortens(arg, "--help") || shortens(arg, "--version") || shortens(arg, "--dry-run") {
		return true
	}
	return strings.HasPrefix(arg, "--help=") || strings.HasPrefix(arg, "--dry-run=") || isDevice(arg)
}

// isDevice reports whether an argument names a device, such as /dev/null.
func isDevice(arg string) bool {
	if !strings.Contains(arg, "dev") {
		return false
	}
	clean := "/" + path.Clean(arg)
	return strings.Contains(clean, "/dev/") || strings.HasSuffix(clean, "/dev") || strings.Contains(clean, "=dev/")
}

// surelyOneOf reports whether the command carries one of the patterns, led by its words.
func (c *command) surelyOneOf(patterns []Pattern) bool {
	for _, p := range patterns {
		if c.carries(p) == Match && c.led(p) {
			return true
		}
	}
	return false
}

// led reports whether the first arguments are the words of p up to its first option.
func (c *command) led(p Pattern) bool {
	if len(c.args) < p.lead {
		return false
	}
	for i, w := range p.words[:p.lead] {
		if c.args[i].kind != literal || c.args[i].text != w {
			return false
		}
	}
	return true
}

// carries says whether the command is what p describes.
func (c *command) carries(p Pattern) Outcome {
	switch {
	case c.name == p.name:
	case sameFile(c.name, p.name):
		// Some file systems find RM and rm.exe as well.
		return c.narrowed(p, Opaque)
	case c.unknown && c.mentions(p.name):
		return Opaque
	default:
		return NoMatch
	}
	if c.possible {
		return c.narrowed(p, Opaque)
	}
	return c.narrowed(p, Match)
}

// narrowed is the outcome for a command whose name is right, which is at most best.
func (c *command) narrowed(p Pattern, best Outcome) Outcome {
	if len(p.words) == 0 {
		return best
	}
	sure, may := 0, 0 // words found for certain, and perhaps
	for _, a := range c.args {
		if sure < len(p.words) && a.kind == literal && a.text == p.words[sure] {
			sure++
		}
		may = a.advance(p.words, may)
	}
	switch {
	case sure == len(p.words):
		return best
	case may == len(p.words):
		return Opaque
	}
	return NoMatch
}

// mentions reports whether an argument contains the name as a word, or would
// for a shell that reads it once more.
func (c *command) mentions(name string) bool {
	for _, a := range c.args {
		if hasWord(a.text, name) || hasWord(a.tail, name) || hasWord(unquoted(a.text), name) || hasWord(unquoted(a.tail), name) {
			return true
		}
	}
	return false
}

// unquoted drops what shells take for quotes.
func unquoted(text string) string {
	if !strings.ContainsAny(text, `\'"`) {
		return ""
	}
	return strings.NewReplacer(`\`, "", "'", "", `"`, "").Replace(text)
}

// hasWord reports whether text holds word with nothing around it that could belong to a name.
func hasWord(text, word string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(word)
		if (start == 0 || !isNameByte(text[start-1])) && (end == len(text) || !isNameByte(text[end])) {
			return true
		}
		from = start + 1
	}
}

func isNameByte(b byte) bool {
	return b == '_' || b == '-' || b == '.' || b >= 0x80 ||
		'0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

// sameFile reports whether a file system that ignores case, or one that adds
// .exe, takes one name for the other.
func sameFile(name, want string) bool {
	if len(name) == len(want)+4 && strings.EqualFold(name[len(want):], ".exe") {
		name = name[:len(want)]
	}
	return strings.EqualFold(name, want)
}
