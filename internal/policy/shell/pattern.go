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
func (o Outcome) String() string { return [...]string{"no match", "match", "opaque"}[o] }

// or returns the outcome if one of two is enough.
func (o Outcome) or(other Outcome) Outcome {
	if o == Match || other == Match {
		return Match
	}
	return max(o, other)
}

// and returns the outcome if both are needed.
func (o Outcome) and(other Outcome) Outcome {
	if o == NoMatch || other == NoMatch {
		return NoMatch
	}
	return max(o, other)
}

// A Pattern is a command to look for, as in `runs git push --force`. It is made
// by [Compile]; the zero value matches nothing.
type Pattern struct {
	name     string
	words    []string // behind the name, as written
	operands []string // those that are no options
	options  []wanted
	known    *knownOptions // of the program; nil: it is in no table
}

// Compile makes a pattern of words. The first is the name of the command; the
// others narrow it. Words that are no options have to be arguments of the
// command, in this order, whatever stands between them. Options may stand
// anywhere and in any of their spellings: -rf is -r and -f, and where the tables
// know the program, --recursive and --force as well.
func Compile(words []string) (Pattern, error) {
	if len(words) == 0 || words[0] == "" {
		return Pattern{}, errors.New("a pattern of commands needs the name of a command")
	}
	if strings.Contains(words[0], "/") {
		return Pattern{}, fmt.Errorf("%q is a path; write the name of the command alone, here %q", words[0], path.Base(words[0]))
	}
	p := Pattern{name: words[0], words: append([]string(nil), words[1:]...)}
	for _, w := range p.words {
		if !isOption(w) {
			p.operands = append(p.operands, w)
		}
	}
	_, p.known, _, _ = programOf(p.name, literals(p.operands))
	p.operands = nil
	for rest := p.words; len(rest) > 0; {
		if !isOption(rest[0]) {
			p.operands, rest = append(p.operands, rest[0]), rest[1:]
			continue
		}
		found, n := p.known.wanted(rest)
		p.options, rest = append(p.options, found...), rest[n:]
	}
	return p, nil
}

// literals are words as arguments.
func literals(words []string) []arg {
	args := make([]arg, len(words))
	for i, w := range words {
		args[i] = arg{text: w}
	}
	return args
}

// isOption reports whether a word of a pattern is an option.
func isOption(word string) bool { return len(word) > 1 && word[0] == '-' && word != "--" }

// String returns the words of the pattern.
func (p Pattern) String() string {
	return strings.Join(append([]string{p.name}, p.words...), " ")
}

// Runs says whether the script runs what p describes: [Match] if one of its
// commands surely carries p, [Opaque] if none does and one may, [NoMatch] if
// none can.
func (r *Reading) Runs(p Pattern) Outcome {
	found := NoMatch
	for i := range r.commands {
		found = found.or(r.commands[i].carries(p))
	}
	if found == NoMatch && r.perhaps(p) {
		return Opaque
	}
	return found
}

// perhaps reports whether the script may run p though none of its commands carries it.
func (r *Reading) perhaps(p Pattern) bool {
	return p.name != "" && (r.doubt != "" || r.mentions.has(p.name) || r.written != nil && r.written.hasAll(p))
}

// carries says whether the command is what p describes.
func (c *command) carries(p Pattern) Outcome {
	best, args := Match, c.args
	switch {
	case p.name == "":
		return NoMatch
	case c.name != p.name:
		if args = c.as(p.name); args == nil {
			return NoMatch
		}
		best = Opaque
	case c.possible:
		best = Opaque
	}
	sure, may := 0, 0 // operands found for certain, and perhaps
	for _, a := range args {
		if len(p.operands) == 0 {
			break
		}
		if sure < len(p.operands) && a.kind == literal && a.text == p.operands[sure] {
			sure++
		}
		if may < len(p.operands) && a.kind == literal && isShort(p, a.text, may) {
			may++
			continue
		}
		may = a.advance(p.operands, may)
	}
	switch {
	case may < len(p.operands):
		return NoMatch
	case sure < len(p.operands):
		best = Opaque
	}
	for i := range p.options {
		if best == NoMatch {
			break
		}
		best = best.and(p.options[i].given(p.known, c.args))
	}
	return best
}

// sameFile reports whether a file system that ignores case, or one that adds
// .exe, takes one name for the other.
func sameFile(name, want string) bool {
	if len(name) == len(want)+4 && strings.EqualFold(name[len(want):], ".exe") {
		name = name[:len(want)]
	}
	return strings.EqualFold(name, want)
}
