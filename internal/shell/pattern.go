package shell

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// A Pattern describes a command to look for, as in `runs git push --force`. Create one with
// [Compile]. The zero value matches nothing.
type Pattern struct {
	name     word
	words    []string // words after the program name, as written, except for a * at the end
	operands []word   // words that are not options
	options  []wanted
	known    *optionTable // the program's options; nil if the program is in no table
	any      bool         // the pattern ends with *, so the command may have any other options and operands
	exactly  bool         // any other arguments of the command must not change its effect; see [Compile]
	source   string       // the pattern as written
	files    *FilePattern // not nil if the pattern describes files rather than a command
}

// A word is one word of a pattern. If glob is true, each * in it matches any text.
type word struct {
	text string
	glob bool
}

// wordOf parses a word in a pattern.
func wordOf(text string) word { return word{text, strings.Contains(text, "*")} }

// matches reports whether text matches the word.
func (w *word) matches(text string) bool {
	if !w.glob {
		return text == w.text
	}
	return matchStar(w.text, text)
}

// Compile returns the pattern made of words. The first word, apart from a launcher such as npx, is
// the name of the command. The other words are operands and options that the command must have.
// Operands must be in the same order but need not be adjacent. If the program has subcommands, the
// first operand is the subcommand. Options match anywhere and in all spellings: -rf means -r and -f
// and, if the tables know the program, also --recursive and --force. A * within the name or an
// operand matches any text.
//
// The command may also have further arguments. If exactly is true, it must still do exactly what
// its name says. [Reading.Only] and [Reading.Surely] also reject arguments that change what the
// command does, unless the last word is *.
//
// Compile returns an error if the name is missing or is a path without *, or if exactly is true and
// the last word is *.
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
	words = stripLaunchers(words)
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

// mayMatch reports whether the argument may match the word w of a pattern.
func (a arg) mayMatch(w *word) bool {
	if !w.glob || a.kind == literal {
		return a.kind == literal && w.matches(a.text) || !w.glob && a.canBe(w.text)
	}
	before, _, _ := strings.Cut(w.text, "*")
	n := min(len(before), len(a.text))
	return before[:n] == a.text[:n]
}
