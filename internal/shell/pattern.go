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
	NoMatch Outcome = iota // it does not say so
	Match                  // the script carries it
	Opaque                 // it may run it, or not
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
	name     word
	words    []string // behind the name, as written, without the last *
	operands []word   // those that are no options
	options  []wanted
	known    *knownOptions // of the program; nil: it is in no table
	any      bool          // * is the last word: any options and operands will do
	exactly  bool          // no other arguments than inert ones
	source   string        // as written
	files    *FilePattern  // set: the pattern is about files and not about a command
}

// A word is one of a pattern. In a glob, * is any text.
type word struct {
	text string
	glob bool
}

// wordOf reads a word of a pattern.
func wordOf(text string) word { return word{text, strings.Contains(text, "*")} }

// is reports whether a text is the word.
func (w *word) is(text string) bool {
	if !w.glob {
		return text == w.text
	}
	return matchStar(w.text, text)
}

// matchStar reports whether a text matches a glob in which * is any text.
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

// Compile makes a pattern of words. The first is the name of the command; the
// others narrow it. Words that are no options have to be arguments of the
// command, in this order, whatever stands between them; the first of them is the
// subcommand where the program has some. Options may stand anywhere and in any of
// their spellings: -rf is -r and -f, and where the tables know the program,
// --recursive and --force as well. A * within a word is any text. As the last word
// it says that the command may have any arguments and still counts, see
// [Reading.Only] and [Reading.Surely]; with exactly, only those of the pattern and
// inert ones do. A launcher in front, as npx, is left out.
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
func (p Pattern) String() string { return p.source }

// sameFile reports whether a file system that ignores case, or one that adds
// .exe, takes one name for the other.
func sameFile(name, want string) bool {
	if len(name) == len(want)+4 && strings.EqualFold(name[len(want):], ".exe") {
		name = name[:len(want)]
	}
	return strings.EqualFold(name, want)
}
