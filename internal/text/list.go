package text

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// And joins names as a sentence lists them: "a, b and c".
func And(names []string) string { return Join(names, "and") }

// Join joins words as a sentence lists them, with "and" or "or" before the last.
func Join(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return fmt.Sprintf("%s %s %s", strings.Join(words[:len(words)-1], ", "), last, words[len(words)-1])
}

// Count returns a number with its noun, in the plural where it is not 1.
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// First returns a list of so many of the names at most, and how many there are besides:
// "a, b and 3 more".
func First(most int, names []string) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// Subject returns a number with its noun and its verb: "1 file is", "2 files are".
func Subject(n int, noun, is, are string) string {
	if n == 1 {
		are = is
	}
	return Count(n, noun) + " " + are
}

// People returns how many persons, "a person" or "2 people", with the verb of as many.
func People(n int, is, are string) string {
	if n < 2 {
		return strings.TrimSpace("a person " + is)
	}
	return strings.TrimSpace(fmt.Sprintf("%d people %s", n, are))
}

// EscapeAll is [Escape] of each text.
func EscapeAll(texts []string) []string {
	out := make([]string, len(texts))
	for i, each := range texts {
		out[i] = Escape(each)
	}
	return out
}

// Grouped returns a number with its digits in groups: 2,546,432.
func Grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Innermost returns the error that err wraps, without what was wrapped around it.
func Innermost(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
