package callclass

import (
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
)

// A pattern describes the strings that a map matches.
type pattern struct {
	*mapping
	samples []string // strings that the pattern matches
	word    string   // the word to look for; empty for a regular expression
	grows   bool     // whether a string still matches if other words surround it
	script  []string // words of the command to look for in scripts; nil if the map does not read scripts
}

// maxSamples is the maximum number of texts tried for a pattern.
const maxSamples = 6

// newPattern parses the pattern of map statement m: a word, or a regular expression between
// slashes, optionally followed by the flag i. If the statement uses a reader, the reader defines
// the syntax of the pattern.
func newPattern(m *mapping) pattern {
	p := pattern{mapping: m}
	candidates := []string{m.Source}
	tree := parseSource(m.Source)
	switch {
	case m.Reader != nil:
		if p.script = m.command(); p.script == nil {
			return p
		}
		candidates = []string{strings.Join(p.script, " ")}
	case tree == nil:
		p.word, p.grows = m.Source, true
	default:
		candidates = texts(tree)
		p.grows = !asserts(tree)
	}
	for _, s := range candidates {
		for _, s := range []string{s, s + "x", "x" + s} {
			if len(p.samples) < maxSamples && s != "" && p.matches(s) && !slices.Contains(p.samples, s) {
				p.samples = append(p.samples, s)
			}
		}
	}
	return p
}

// command returns the words of the command that the map looks for in scripts. It returns nil if the
// map reads something else.
func (m *mapping) command() []string {
	words, ok := strings.CutPrefix(m.Source, "runs ")
	if !ok || m.Field == "" {
		return nil
	}
	words = strings.TrimSuffix(strings.TrimPrefix(words, "exactly "), " *") // "exactly" and "*" modify the pattern and are not parts of the command
	return strings.Fields(words)
}

// parseSource returns the syntax tree of a regular expression, or nil for a word.
func parseSource(source string) *syntax.Regexp {
	end := strings.LastIndexByte(source, '/')
	if end < 1 || source[0] != '/' {
		return nil
	}
	flags := syntax.Perl
	switch source[end+1:] {
	case "":
	case "i":
		flags |= syntax.FoldCase
	default:
		return nil
	}
	tree, err := syntax.Parse(source[1:end], flags)
	if err != nil {
		return nil
	}
	return tree.Simplify()
}

// asserts reports whether the regular expression contains an assertion about the text around a
// match.
func asserts(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	}
	return slices.ContainsFunc(re.Sub, asserts)
}

// texts returns a few strings that the regular expression may match.
func texts(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{string(re.Rune)}
	case syntax.OpCharClass:
		return classTexts(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return []string{"x", "-"}
	case syntax.OpCapture, syntax.OpPlus, syntax.OpRepeat:
		return texts(re.Sub[0])
	case syntax.OpStar, syntax.OpQuest:
		return few(append([]string{""}, texts(re.Sub[0])...))
	case syntax.OpAlternate:
		return few(list.FlatMap(re.Sub, texts))
	case syntax.OpConcat:
		all := []string{""}
		for _, sub := range re.Sub {
			all = few(list.FlatMap(texts(sub), func(tail string) []string {
				return list.Map(all, func(head string) string { return head + tail })
			}))
		}
		return all
	}
	return []string{""}
}

func few(s []string) []string { return s[:min(len(s), 2*maxSamples)] }

// classTexts returns a few strings that match a character class, each a single character.
func classTexts(ranges []rune) []string {
	var out []string
	for _, r := range "ax0 -_" {
		for i := 0; i+1 < len(ranges); i += 2 {
			if ranges[i] <= r && r <= ranges[i+1] {
				out = append(out, string(r))
			}
		}
	}
	if len(out) == 0 && len(ranges) > 0 {
		out = append(out, string(ranges[0]))
	}
	return few(out)
}

// maxTries is the maximum number of texts tried for a set of patterns.
const maxTries = 128

// maxScripts is like maxTries, but for sets of patterns that all look for commands.
const maxScripts = 16

// scriptOf returns a script that runs the commands of all patterns in set. ok is false if set
// contains fewer than two patterns, or a pattern without a known command.
func scriptOf(ps []pattern, set uint64) (text string, ok bool) {
	var commands []string
	for i := range members(set) {
		if ps[i].script == nil || len(ps[i].samples) == 0 {
			return "", false
		}
		commands = append(commands, ps[i].samples[0])
	}
	return strings.Join(commands, "; "), len(commands) > 1
}

// exactly reports whether the patterns that match at least one of the strings are exactly those in
// set.
func exactly(ps []pattern, set uint64, texts ...string) bool {
	for i := range ps {
		if slices.ContainsFunc(texts, ps[i].matches) != (set&(1<<i) != 0) {
			return false
		}
	}
	return true
}

// witness looks for a text that all patterns in set match and no other pattern matches. It reports
// whether it found one.
func witness(ps []pattern, set uint64) (string, bool) {
	exact := func(s string) bool { return exactly(ps, set, s) }
	parts, tries := []string{""}, maxTries
	if text, ok := scriptOf(ps, set); ok {
		if exact(text) {
			return text, true
		}
		tries = maxScripts
	}
	for i := range members(set) {
		var next []string
		for _, head := range parts {
			for _, s := range ps[i].samples {
				if exact(s) {
					return s, true
				}
				if len(next) < tries {
					next = append(next, join(head, s)...)
				}
			}
		}
		parts = next[:min(len(next), tries)]
	}
	for _, s := range parts {
		if exact(s) {
			return s, true
		}
	}
	return "", false
}

// join concatenates two texts in several ways, with and without separators.
func join(a, b string) []string {
	if a == "" {
		return []string{b}
	}
	return []string{a + " " + b, b + " " + a, a + b, a + "; " + b}
}

// impossible reports whether a simple check shows that every string that matches the patterns in
// set also matches another pattern. It ignores the patterns in the second bit set.
func impossible(ps []pattern, set, either uint64) bool {
	for i := range members(set) {
		for j := range ps {
			if (set|either)&(1<<j) == 0 &&
				(ps[i].Source == ps[j].Source || includes(&ps[j], &ps[i]) || ps[i].word != "" && ps[j].grows && ps[j].matches(ps[i].word)) {
				return true
			}
		}
	}
	return false
}

// includes reports whether every script that runs narrow's command certainly matches wide as well.
func includes(wide, narrow *pattern) bool {
	return wide.script != nil && narrow.script != nil && wide.script[0] == narrow.script[0] &&
		wide.read(strings.Join(narrow.script, " ")).Finds(wide.Pattern) == gate.Surely
}
