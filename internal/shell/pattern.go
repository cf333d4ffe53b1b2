package shell

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// An Outcome is the answer to whether a script runs a command or touches a file.
type Outcome uint8

// The outcomes. A doubt leads to Opaque.
const (
	NoMatch Outcome = iota // nothing in the script indicates it
	Match                  // the script does
	Opaque                 // the script may or may not
)

// String returns "no match", "match" or "opaque".
func (o Outcome) String() string { return [...]string{"no match", "match", "opaque"}[o] }

// or combines two outcomes if one match is enough.
func (o Outcome) or(other Outcome) Outcome {
	if o == Match || other == Match {
		return Match
	}
	return max(o, other)
}

// and combines two outcomes if both must match.
func (o Outcome) and(other Outcome) Outcome {
	if o == NoMatch || other == NoMatch {
		return NoMatch
	}
	return max(o, other)
}

// A Pattern describes a command to look for, as in `runs git push --force`. Create it with
// [Compile]; the zero value matches nothing.
type Pattern struct {
	name     word
	words    []string // words after the name, as written, without the final *
	operands []word   // words that are not options
	options  []wanted
	known    *knownOptions // options of the program; nil: the program is in no table
	any      bool          // the last word is *: any further options and operands are allowed
	exactly  bool          // only inert arguments are allowed besides those of the pattern
	source   string        // as written
	files    *FilePattern  // if set, the pattern describes files, not a command
}

// A word is a word of a pattern. In a glob, * matches any text.
type word struct {
	text string
	glob bool
}

// wordOf parses a word of a pattern.
func wordOf(text string) word { return word{text, strings.Contains(text, "*")} }

// is reports whether text matches the word.
func (w *word) is(text string) bool {
	if !w.glob {
		return text == w.text
	}
	return matchStar(w.text, text)
}

// matchStar reports whether a text matches a glob whose only wildcard is *, which matches any text.
func matchStar(glob, text string) bool {
	before, rest, star := strings.Cut(glob, "*")
	if !star {
		return text == glob
	}
	if !strings.HasPrefix(text, before) {
		return false
	}
	text = text[len(before):]
	for {
		part, more, star := strings.Cut(rest, "*")
		if !star {
			return strings.HasSuffix(text, rest)
		}
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text, rest = text[i+len(part):], more
	}
}

// Compile builds a pattern from words. The first word is the name of the command; the others narrow
// the pattern. Words that are not options must be arguments of the command, in this order but not
// necessarily adjacent; the first of them is the subcommand if the program has subcommands. Options
// match anywhere and in all spellings: -rf means -r and -f, and if the tables know the program,
// --recursive and --force as well. A * within a word matches any text. A * as the last word allows
// any further arguments, see [Reading.Only] and [Reading.Surely]; with exactly, only the arguments
// of the pattern and inert ones are allowed. A leading launcher such as npx is ignored.
func Compile(words []string, exactly bool) (Pattern, error) {
	if len(words) == 0 || words[0] == "" || words[0] == "*" {
		return Pattern{}, errors.New("a pattern of commands needs the name of a command")
	}
	p := Pattern{exactly: exactly, source: strings.Join(words, " ")}
	if len(words) > 1 && words[len(words)-1] == "*" {
		if exactly {
			return Pattern{}, errors.New("exactly allows no other arguments, and * allows any")
		}
		p.any, words = true, words[:len(words)-1]
	}
	words = unlaunched(words)
	if p.name = wordOf(words[0]); strings.Contains(words[0], "/") && !p.name.glob {
		return Pattern{}, fmt.Errorf("%q is a path; write the name of the command alone, here %q", words[0], path.Base(words[0]))
	}
	p.words = append([]string(nil), words[1:]...)
	var operands []arg
	for _, w := range p.words {
		if !isOption(w) {
			operands = append(operands, arg{text: w})
		}
	}
	_, p.known, _, _ = programOf(p.name.text, operands)
	for rest := p.words; len(rest) > 0; {
		if !isOption(rest[0]) {
			p.operands, rest = append(p.operands, wordOf(rest[0])), rest[1:]
			continue
		}
		found, n := p.known.wanted(rest)
		p.options, rest = append(p.options, found...), rest[n:]
	}
	return p, nil
}

// literals returns words as literal arguments.
func literals(words []string) []arg {
	args := make([]arg, len(words))
	for i, w := range words {
		args[i] = arg{text: w}
	}
	return args
}

// isOption reports whether a word looks like an option.
func isOption(word string) bool { return len(word) > 1 && word[0] == '-' && word != "--" }

// String returns the words of the pattern.
func (p Pattern) String() string { return p.source }

// sameFile reports whether two names may denote one file, on a file system that ignores case or on
// a system that adds .exe.
func sameFile(name, want string) bool {
	if len(name) == len(want)+4 && strings.EqualFold(name[len(want):], ".exe") {
		name = name[:len(want)]
	}
	return strings.EqualFold(name, want)
}
