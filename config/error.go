package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Position is a position in a file of the user. Line and Column count from 1,
// columns in characters; a zero Line is no position.
type Position struct {
	File         string
	Line, Column int
}

// String returns file:line:column, as far as they are known.
func (p Position) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.File == "":
		return fmt.Sprintf("%d:%d", p.Line, p.Column)
	default:
		return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	}
}

// An Error is one problem in a configuration, with its position. It never contains
// the result of an interpolation.
type Error struct {
	File         string
	Line, Column int    // 0: without a position
	Msg          string // what is wrong
	Hint         string // what to write instead; may be empty
	Excerpt      string // the source line and a caret below it; may be empty
}

// Position returns the position of the mistake.
func (e *Error) Position() Position {
	return Position{File: e.File, Line: e.Line, Column: e.Column}
}

// Error returns one line, file:line:column: message (hint).
func (e *Error) Error() string {
	var b strings.Builder
	if p := e.Position().String(); p != "" {
		b.WriteString(p + ": ")
	}
	b.WriteString(e.Msg)
	if e.Hint != "" {
		b.WriteString(" (" + e.Hint + ")")
	}
	return b.String()
}

// Text returns [Error.Error] and, on further lines, the excerpt.
func (e *Error) Text() string {
	if e.Excerpt == "" {
		return e.Error()
	}
	return e.Error() + "\n" + e.Excerpt
}

// An ErrorList has every problem of a configuration, in the order of the file.
type ErrorList []*Error

// Error returns one line for each problem.
func (l ErrorList) Error() string {
	lines := make([]string, len(l))
	for i, e := range l {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Text returns [Error.Text] of each problem.
func (l ErrorList) Text() string {
	lines := make([]string, len(l))
	for i, e := range l {
		lines[i] = e.Text()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets [errors.As] and [errors.Is] see each problem.
func (l ErrorList) Unwrap() []error {
	errs := make([]error, len(l))
	for i, e := range l {
		errs[i] = e
	}
	return errs
}

// Text renders err for a person: with excerpts if it wraps an [ErrorList] or an
// [Error], otherwise as err.Error().
func Text(err error) string {
	var list ErrorList
	var one *Error
	switch {
	case errors.As(err, &list):
		return list.Text()
	case errors.As(err, &one):
		return one.Text()
	default:
		return err.Error()
	}
}

// sorted sorts the problems by file and line.
func (l ErrorList) sorted() {
	files := map[string]int{}
	for _, e := range l {
		if _, ok := files[e.File]; !ok {
			files[e.File] = len(files)
		}
	}
	slices.SortStableFunc(l, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(files[a.File], files[b.File]), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}
