package rules

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/petrigate/petrigate/gate"
)

// Limits on regexes. They bound the cost of loading a file and of matching its regexes.
const (
	maxRegexLength = 1000  // maximum length in bytes
	maxRegexSteps  = 20000 // maximum number of instructions in the compiled program
)

// A Pattern selects calls for a [Map], or results for a [Success].
type Pattern struct {
	Pos     gate.Position
	Kind    PatternKind
	Text    string   // the word, the regex without slashes, or the expression without quotes; for Runs, Reads and Writes, the elements of Words, separated by spaces and quoted if necessary
	Words   []string // the words of the command for Runs; the file globs for Reads and Writes
	Exactly bool     // whether Runs matches a command only if its other arguments do not change its effect
	Fold    bool     // whether the regex ignores case

	line     *scanner
	written  token // range of the pattern in the line, including its keyword
	argument token // part that error messages point to: for When, the whole expression; for Runs, Reads and Writes, the first element of Words
	match    func(string) bool
}

// PatternKind is the kind of a [Pattern].
type PatternKind uint8

const (
	Word   PatternKind = iota // whole word in a field
	Regex                     // regular expression in a field
	Runs                      // command run by the script in a field
	When                      // CEL expression about the call
	Reads                     // files read by the script in a field
	Writes                    // files written by the script in a field
)

// patternWords lists the pattern keywords, indexed by kind.
var patternWords = [...]string{Runs: "runs", When: "when", Reads: "reads", Writes: "writes"}

// readsScript reports whether the pattern reads a field as a shell script.
func (k PatternKind) readsScript() bool { return k == Runs || k == Reads || k == Writes }

// command returns the command's words, without a trailing *.
func (p Pattern) command() []string {
	if last := len(p.Words) - 1; last > 0 && p.Words[last] == "*" {
		return p.Words[:last]
	}
	return p.Words
}

// Match reports whether s contains the word or matches the regex. It returns false for all other
// kinds of patterns, which match only as part of a compiled [gate.Map].
func (p Pattern) Match(s string) bool { return p.match != nil && p.match(s) }

// MatchWord returns a function that reports whether a string contains the given word. An occurrence
// that is part of a longer word does not count. An occurrence is part of a longer word if its first
// or last character is an ASCII letter, digit or underscore and the character next to it outside
// the occurrence is one too. For example, the function finds "--force" in "push --force".
func MatchWord(word string) func(string) bool {
	first, last := isWordByte(word, 0), isWordByte(word, len(word)-1)
	return func(s string) bool {
		for from := 0; ; {
			i := strings.Index(s[from:], word)
			if i < 0 {
				return false
			}
			i += from
			end := i + len(word)
			if !(first && isWordByte(s, i-1)) && !(last && isWordByte(s, end)) {
				return true
			}
			from = i + 1
		}
	}
}

// isWordByte reports whether s has an ASCII word character at i.
func isWordByte(s string, i int) bool {
	if i < 0 || i >= len(s) {
		return false
	}
	c := s[i]
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// MatchRegex returns a function that finds a match of an RE2 expression anywhere in a string. The
// classes \d, \s, \w and the boundary \b are ASCII. It is an error if the expression is empty or
// too large.
func MatchRegex(expr string) (func(string) bool, error) {
	return compileRegex(expr, false)
}

// requiredLiteral returns the longest literal known to occur in every match of a regex, or "". The
// argument re is the syntax tree of the regex.
func requiredLiteral(re *syntax.Regexp) string {
	switch {
	case re.Op == syntax.OpLiteral && re.Flags&syntax.FoldCase == 0 && !slices.Contains(re.Rune, utf8.RuneError):
		return string(re.Rune)
	case re.Op == syntax.OpCapture || re.Op == syntax.OpPlus || re.Op == syntax.OpConcat:
		longest := ""
		for _, sub := range re.Sub {
			if text := requiredLiteral(sub); len(text) > len(longest) {
				longest = text
			}
		}
		return longest
	}
	return ""
}

var (
	errEmptyRegex = errors.New("the regex is empty")
	errLargeRegex = errors.New("the regex is too large")
)

// compileRegex returns a function that reports whether a string matches a regex. If every match
// contains a certain literal, the function first searches for this literal, because that is cheap
// and most strings do not match.
func compileRegex(expr string, fold bool) (func(string) bool, error) {
	if expr == "" {
		return nil, errEmptyRegex
	}
	if len(expr) > maxRegexLength {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", errLargeRegex, len(expr), maxRegexLength)
	}
	if fold {
		expr = "(?i)" + expr
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("invalid regex: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	tree, _ := syntax.Parse(expr, syntax.Perl) // ignore the error, because regexp.Compile has already accepted expr
	tree = tree.Simplify()
	if prog, _ := syntax.Compile(tree); len(prog.Inst) > maxRegexSteps {
		return nil, fmt.Errorf("%w: %d steps, at most %d", errLargeRegex, len(prog.Inst), maxRegexSteps)
	}
	text := requiredLiteral(tree)
	if text == "" {
		return re.MatchString, nil
	}
	return func(s string) bool { return strings.Contains(s, text) && re.MatchString(s) }, nil
}
