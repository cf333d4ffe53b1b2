package config

import (
	"regexp"
	"strings"

	"github.com/petrigate/petrigate/internal/diag"
)

// A source holds the lines of a file and the problems found in the file so far.
type source struct {
	name  string
	lines []string
	errs  ErrorList
	warns ErrorList

	// secrets lists the values that an excerpt must not show.
	secrets []*node
	// guessSecrets is true while the positions of the secrets are unknown because the file has not
	// been parsed into a tree.
	guessSecrets bool
	json         bool // whether the file is JSON, possibly with comments
}

// faultAt records a problem with the value n, which is nil if the value does not come from the
// file.
func (s *source) faultAt(n *node, msg, hint string) {
	switch {
	case n == nil:
		s.errs = append(s.errs, Error{Msg: msg, Hint: hint})
	case !n.unresolved:
		s.add(n.line, n.column, msg, hint)
	}
}

func (s *source) add(line, column int, msg, hint string) {
	switch n := len(s.errs); {
	case n < maxErrors:
		s.errs = append(s.errs, s.problem(line, column, msg, hint))
	case n == maxErrors:
		s.errs = append(s.errs, Error{File: s.name, Line: line, Column: column, Msg: "too many problems; the rest are not shown"})
	}
}

// faultAtPosition records a problem at a position, which can be in another file.
func (s *source) faultAtPosition(p Position, msg, hint string) {
	if p.File == s.name {
		s.add(p.Line, p.Column, msg, hint)
		return
	}
	s.errs = append(s.errs, diag.At(p, msg, hint))
}

// warn records a warning about the value n, which is allowed but probably a mistake. n is nil if
// the value does not come from the file.
func (s *source) warn(n *node, msg, hint string) {
	switch {
	case n == nil:
		s.warns = append(s.warns, Error{Msg: msg, Hint: hint})
	case !n.unresolved:
		s.warns = append(s.warns, s.problem(n.line, n.column, msg, hint))
	}
}

func (s *source) problem(line, column int, msg, hint string) Error {
	return Error{File: s.name, Line: line, Column: column, Msg: msg, Hint: hint, Excerpt: s.excerpt(line, column)}
}

// err returns the problems sorted by position, or nil if none were found.
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

// find returns the position of expr within the value n, or the position of n if expr is not on n's
// line.
func (s *source) find(n *node, expr string) (line, column int) {
	if n.line < 1 || n.line > len(s.lines) {
		return n.line, n.column
	}
	text := []rune(s.lines[n.line-1])
	from := min(n.column-1, len(text))
	before, _, found := strings.Cut(string(text[from:]), expr)
	if !found {
		return n.line, n.column
	}
	return n.line, from + len([]rune(before)) + 1
}

// excerpt returns the source line with a caret below the column. It replaces the secrets in the
// line with stars. If the line is blank, does not exist, or may contain a secret at an unknown
// position, excerpt returns the empty string.
func (s *source) excerpt(line, column int) string {
	if line < 1 || line > len(s.lines) {
		return ""
	}
	text := s.lines[line-1]
	if strings.TrimSpace(text) == "" || s.guessSecrets && suspicious.MatchString(text) {
		return ""
	}
	shown := s.masked(line, []rune(text))
	return diag.Excerpt(string(shown), min(column, len(shown)+1), 1)
}

// suspicious matches lines that may contain a secret. It is used for files that could not be parsed
// into a tree.
var suspicious = regexp.MustCompile(`(?i)token|secret|passw|authorization|bearer|credential|key`)

// masked replaces the secrets on the given line with stars.
func (s *source) masked(line int, text []rune) []rune {
	for _, n := range s.secrets {
		if line < n.line || line > n.endLine {
			continue
		}
		from, to := 0, len(text)
		if line == n.line {
			from = min(n.column-1, to)
		}
		if line == n.endLine {
			to = min(n.endColumn-1, to)
		}
		for i := from; i < to; i++ {
			text[i] = '*'
		}
	}
	return text
}
