package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Position is a place in a file of the user's. Line and Column count from 1,
// columns in characters; a zero Line is no position.
type Position struct {
	File         string
	Line, Column int
}

// String is file:line:column, as far as they are known.
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

// An Error is one problem in a configuration, with the place where it was
// made. It never holds a value that came out of an interpolation.
type Error struct {
	File         string
	Line, Column int    // 0: not tied to a place in a file
	Msg          string // what is wrong
	Hint         string // what to write instead; may be empty
	Excerpt      string // the source line and a caret below it; may be empty
}

// Position is where the mistake is.
func (e *Error) Position() Position {
	return Position{File: e.File, Line: e.Line, Column: e.Column}
}

// Error is one line, file:line:column: message (hint).
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

// Text is [Error.Error] and, on further lines, the excerpt.
func (e *Error) Text() string {
	if e.Excerpt == "" {
		return e.Error()
	}
	return e.Error() + "\n" + e.Excerpt
}

// An ErrorList is every problem of a configuration, in the order of the file.
type ErrorList []*Error

// Error is one line for each problem.
func (l ErrorList) Error() string {
	lines := make([]string, len(l))
	for i, e := range l {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Text is [Error.Text] of each problem.
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

// Text renders err for a person: with excerpts where it holds an [ErrorList]
// or an [Error], and as err.Error() otherwise.
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

// sorted puts the problems in the order of the files, and those of a file in
// the order of its lines.
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
