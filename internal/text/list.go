package text

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/internal/list"
)

// And returns the names joined for use in a sentence: "a, b and c".
func And(names []string) string { return Join(names, "and") }

// Join joins the words for use in a sentence, with the given conjunction, such as "and" or "or",
// before the last word: "a, b and c".
func Join(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return fmt.Sprintf("%s %s %s", strings.Join(words[:len(words)-1], ", "), last, words[len(words)-1])
}

// Count returns a number and a noun, such as "1 file" or "2 files". The noun is plural unless n is
// 1.
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// First joins at most the given number of names and adds a count of the others: "a, b and 3 more".
func First(most int, names []string) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// Subject returns a number and a noun with the matching verb: "1 file is", "2 files are".
func Subject(n int, noun, is, are string) string {
	if n == 1 {
		are = is
	}
	return Count(n, noun) + " " + are
}

// People returns a phrase such as "a person is" or "2 people are". The caller passes both forms of
// the verb, or empty strings for a phrase without a verb.
func People(n int, is, are string) string {
	if n < 2 {
		return strings.TrimSpace("a person " + is)
	}
	return strings.TrimSpace(fmt.Sprintf("%d people %s", n, are))
}

// EscapeAll applies [Escape] to each string.
func EscapeAll(texts []string) []string {
	return list.Map(texts, Escape)
}

// Masker returns a replacer that replaces secrets with the given mask. If a secret contains another
// secret, the longer one must come first in secrets.
func Masker(secrets []string, mask string) *strings.Replacer {
	var pairs []string
	for _, s := range secrets {
		pairs = append(pairs, s, mask)
	}
	return strings.NewReplacer(pairs...)
}

// Grouped formats a number with a comma between groups of three digits: 2,546,432.
func Grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Innermost returns the innermost error wrapped by err, or err itself if it wraps none.
func Innermost(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
