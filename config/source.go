package config

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/petrigate/petrigate/internal/diag"
)

// A source is one file: its lines, and the problems found in it so far.
type source struct {
	name  string
	lines []string
	errs  ErrorList
	warns ErrorList

	// secrets are the values whose characters an excerpt must not show.
	secrets []*node
	// guessSecrets is set until a tree gives the positions of the secrets.
	guessSecrets bool
	json         bool // the file is JSON, perhaps with comments
}

// read parses the bytes of a file into a tree. It returns nil if the file is empty or not YAML. If
// it is not YAML, s.errs has the problem; an empty file is for the caller to report.
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
		s.guessSecrets, s.json = false, true
		return n
	}
	if len(text) > maxYAML {
		s.add(0, 0, "the file is too large", "at most 1 MiB of YAML")
		return nil
	}
	n = s.readYAML(text)
	s.guessSecrets = n == nil
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
	if flow { // a lone \r is white space in JSON, and a line end in YAML
		text = strings.ReplaceAll(text, "\r", "\n")
	}
	s.lines, s.guessSecrets = strings.Split(text, "\n"), true
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

// looksJSON reports whether the text can only be JSON or flow-style YAML. JSON strings may contain
// Unicode line separators, which YAML treats as line ends.
func looksJSON(text string) bool {
	text = strings.TrimLeft(text, " \t\n\r")
	return strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")
}

// faultAt records a problem with a value. A nil n means that the value does not come from the file.
func (s *source) faultAt(n *node, msg, hint string) {
	if n == nil {
		s.errs = append(s.errs, Error{Msg: msg, Hint: hint})
		return
	}
	if n.unresolved {
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

// faultAtPosition records a problem whose position may be in another file.
func (s *source) faultAtPosition(p Position, msg, hint string) {
	if p.File == s.name {
		s.add(p.Line, p.Column, msg, hint)
		return
	}
	s.errs = append(s.errs, diag.At(p, msg, hint))
}

// warn records a value that is allowed but probably a mistake. A nil n means that the value does
// not come from the file.
func (s *source) warn(n *node, msg, hint string) {
	w := Error{Msg: msg, Hint: hint}
	if n != nil && n.unresolved {
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

// err returns the problems, sorted by position, or nil.
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
