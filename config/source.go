package config

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/petrigate/petrigate/internal/diag"
)

// A source is one file: its text, and the problems found in it so far.
type source struct {
	name  string
	lines []string
	errs  ErrorList
	warns ErrorList

	// secrets are values whose characters an excerpt must not show.
	secrets []*node
	// guess is set while no tree tells where the secrets are.
	guess bool
	json  bool // it is JSON, perhaps with comments
}

// read turns the bytes of a file into a tree. The result is nil if the file is
// no YAML, or empty; the problem is then in s.errs or the caller's to name.
func (s *source) read(src []byte) *node {
	text, ok := s.normal(src)
	if !ok {
		return nil
	}
	n, ok := readJSON(text)
	if !ok && looksJSON(text) {
		n, ok = readJSON(withoutComments(text))
	}
	if ok {
		s.guess, s.json = false, true
		return n
	}
	if len(text) > maxYAML {
		s.add(0, 0, "the file is too large", "at most 1 MiB of YAML")
		return nil
	}
	n = s.readYAML(text)
	s.guess = n == nil
	return n
}

// normal refuses bytes that are not text, and normalizes line ends.
func (s *source) normal(src []byte) (string, bool) {
	if len(src) > maxSize {
		s.add(0, 0, "the file is too large", "at most 4 MiB")
		return "", false
	}
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	text := strings.ReplaceAll(string(src), "\r\n", "\n")
	line, column, flow := 1, 1, looksJSON(text)
	if flow { // white space there, and a line end for YAML
		text = strings.ReplaceAll(text, "\r", "\n")
	}
	s.lines, s.guess = strings.Split(text, "\n"), true
	for i, r := range text {
		switch {
		case r == '\n':
			line, column = line+1, 0
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd"):
			s.add(line, column, "the file is not UTF-8 here", "save it as UTF-8")
			return "", false
		case r < ' ' && r != '\t', r == 0x7f, r == 0x85, r == 0x2028, r == 0x2029:
			if !flow {
				s.add(line, column, "a control character is not allowed here", fmt.Sprintf(`delete it; in double quotes it can be written as \u%04x`, r))
				return "", false
			}
		}
		column++
	}
	return text, true
}

// looksJSON reports whether a text can only be meant as JSON or flow YAML. JSON allows
// line separators of Unicode in strings, which YAML takes for line ends.
func looksJSON(text string) bool {
	text = strings.TrimLeft(text, " \t\n\r")
	return strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")
}

// at records a problem with a value; nil: with one that does not come from the file.
func (s *source) at(n *node, msg, hint string) {
	if n == nil {
		s.errs = append(s.errs, Error{Msg: msg, Hint: hint})
		return
	}
	if n.open {
		return
	}
	s.add(n.line, n.column, msg, hint)
}

func (s *source) add(line, column int, msg, hint string) {
	switch n := len(s.errs); {
	case n < maxErrors:
		s.errs = append(s.errs, s.problem(line, column, msg, hint))
	case n == maxErrors:
		s.errs = append(s.errs, Error{File: s.name, Line: line, Column: column, Msg: "too many problems; the rest is not shown"})
	}
}

// foreign records a problem that may be in another file.
func (s *source) foreign(p Position, msg, hint string) {
	if p.File == s.name {
		s.add(p.Line, p.Column, msg, hint)
		return
	}
	s.errs = append(s.errs, diag.At(p, msg, hint))
}

// warn records a value that is allowed but probably a mistake; nil: one that does not
// come from the file.
func (s *source) warn(n *node, msg, hint string) {
	w := Error{Msg: msg, Hint: hint}
	if n != nil && n.open {
		return
	}
	if n != nil {
		w = s.problem(n.line, n.column, msg, hint)
	}
	s.warns = append(s.warns, w)
}

func (s *source) problem(line, column int, msg, hint string) Error {
	return Error{File: s.name, Line: line, Column: column, Msg: msg, Hint: hint, Excerpt: s.excerpt(line, column)}
}

// err returns the problems in their order, or nil.
func (s *source) err() error {
	if len(s.errs) == 0 {
		return nil
	}
	s.errs.Sort()
	return s.errs
}

func (s *source) position(n *node) Position {
	return Position{File: s.name, Line: n.line, Column: n.column}
}
