package shell

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// A Pattern describes a command to look for, as in `runs git push --force`. It is created by
// [Compile]. The zero value does not match anything.
type Pattern struct {
	name     word
	words    []string // the words after the name as the pattern was written, except a * at the end
	operands []word   // the words that are not options
	options  []wanted
	known    *knownOptions // the options of the program; nil: the program is in no table
	any      bool          // the last word is *, which allows any further options and operands
	exactly  bool          // in addition to the pattern's own arguments, only inert arguments are allowed
	source   string        // the pattern as written
	files    *FilePattern  // if set, the pattern describes files instead of a command
}

// A word is one word of a pattern. If it is a glob, * matches any text in it.
type word struct {
	text string
	glob bool
}

// wordOf parses a word in a pattern.
func wordOf(text string) word { return word{text, strings.Contains(text, "*")} }

// is reports whether text matches the word.
func (w *word) is(text string) bool {
	if !w.glob {
		return text == w.text
	}
	return matchStar(w.text, text)
}

// Compile builds a pattern from words. The first word is the name of the command, and the others
// narrow the pattern. Words that are not options must be arguments of the command, in this order
// but not necessarily next to each other. If the program has subcommands, the first of these words
// is the subcommand. Options match anywhere and in all spellings: -rf means -r and -f and, if the
// tables know the program, also --recursive and --force. A * within a word matches any text. A * as
// the last word allows any further arguments; see [Reading.Only] and [Reading.Surely]. If exactly
// is true, only the arguments of the pattern and inert arguments are allowed. A launcher such as
// npx at the beginning is ignored.
func Compile(words []string, exactly bool) (Pattern, error) {
	if len(words) == 0 || words[0] == "" || words[0] == "*" {
		return Pattern{}, errors.New("a command pattern needs a command name")
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
	operands := slices.DeleteFunc(slices.Clone(p.words), isOption)
	_, p.known, _, _ = programOf(p.name.text, literals(operands))
	for rest := p.words; len(rest) > 0; {
		if !isOption(rest[0]) {
			p.operands, rest = append(p.operands, wordOf(rest[0])), rest[1:]
			continue
		}
		found, n := p.known.parseWanted(rest)
		p.options, rest = append(p.options, found...), rest[n:]
	}
	return p, nil
}

// String returns the words of the pattern.
func (p Pattern) String() string { return p.source }

// mayBe reports whether the argument may match the word w.
func (a arg) mayBe(w *word) bool {
	if !w.glob || a.kind == literal {
		return a.kind == literal && w.is(a.text) || !w.glob && a.may(w.text)
	}
	before, _, _ := strings.Cut(w.text, "*")
	n := min(len(before), len(a.text))
	return before[:n] == a.text[:n]
}
