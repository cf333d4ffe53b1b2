// Package diag is what is wrong with texts of the user's: places, messages, hints
// and excerpts of the source, for people and as JSON.
package diag

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Position is a place in a file. Line and Column count from 1, columns in
// characters; a zero Line is the file as a whole, a zero Column the whole line.
type Position struct {
	File         string
	Line, Column int
}

// String returns file:line:column, as far as they are known.
func (p Position) String() string {
	s := p.File
	if p.Line > 0 {
		s = strings.TrimPrefix(fmt.Sprintf("%s:%d", s, p.Line), ":")
		if p.Column > 0 {
			s = fmt.Sprintf("%s:%d", s, p.Column)
		}
	}
	return s
}

// A Problem is something wrong, or doubtful, in a file or a text. It never holds a
// secret value.
type Problem struct {
	Severity Severity `json:"severity"`
	Code     string   `json:"code"` // docs/codes.md explains each; empty: it has none
	File     string   `json:"file"`
	Line     int      `json:"line"`   // 0: not tied to a line
	Column   int      `json:"column"` // in characters, from 1
	Msg      string   `json:"message"`
	Hint     string   `json:"hint"`          // what to write instead; may be empty
	Net      string   `json:"net,omitempty"` // the hand-written net; may be empty
	Excerpt  string   `json:"-"`             // the source line and carets below it; may be empty
	Detail   string   `json:"-"`             // lines that explain it; may be empty
	Offset   int      `json:"-"`             // in bytes, where the text is an expression
}

// Severity says whether a file with the problem loads.
type Severity string

const (
	Error   Severity = "error" // it does not
	Warning Severity = "warning"
	Note    Severity = "note" // nothing is wrong: it is only good to know
)

// At returns a problem without a severity and a code.
func At(pos Position, msg, hint string) Problem {
	return Problem{File: pos.File, Line: pos.Line, Column: pos.Column, Msg: msg, Hint: hint}
}

// Position returns where the mistake is.
func (p Problem) Position() Position { return Position{p.File, p.Line, p.Column} }

// message returns what is wrong, with the net that it is about.
func (p Problem) message() string {
	if p.Net != "" {
		return fmt.Sprintf("net %q: %s", p.Net, p.Msg)
	}
	return p.Msg
}

// Error returns the problem on one line: file:line:column: message (hint).
func (p Problem) Error() string {
	s := p.message()
	if pos := p.Position().String(); pos != "" {
		s = pos + ": " + s
	}
	if p.Hint != "" {
		s += " (" + p.Hint + ")"
	}
	return s
}

// Text returns [Problem.Error] and, on further lines, the excerpt.
func (p Problem) Text() string {
	if p.Excerpt == "" {
		return p.Error()
	}
	return p.Error() + "\n" + p.Excerpt
}

// A List is a list of problems. It is an error unless it is empty.
type List []Problem

// Error returns one line for each problem.
func (l List) Error() string { return Lines(l) }

// Unwrap returns the problems, for [errors.As].
func (l List) Unwrap() []error { return Errors(l) }

// Text returns [Problem.Text] of each problem.
func (l List) Text() string {
	lines := make([]string, len(l))
	for i, p := range l {
		lines[i] = p.Text()
	}
	return strings.Join(lines, "\n")
}

// Of returns the problems of one severity.
func (l List) Of(s Severity) List {
	var of List
	for _, p := range l {
		if p.Severity == s {
			of = append(of, p)
		}
	}
	return of
}

// Coded returns the problems with a severity and a code for those without a code.
func (l List) Coded(s Severity, code string) List {
	l = slices.Clone(l)
	for i := range l {
		if l[i].Code == "" {
			l[i].Severity, l[i].Code = s, code
		}
	}
	return l
}

// Sort puts the problems in the order of the files in which the first of each
// stands, and those of a file in the order of its lines.
func (l List) Sort() {
	files := map[string]int{}
	for _, p := range l {
		if _, ok := files[p.File]; !ok {
			files[p.File] = len(files)
		}
	}
	slices.SortStableFunc(l, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(files[a.File], files[b.File]), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// Find returns the problems in err: a [List], or one [Problem].
func Find(err error) (l List, ok bool) {
	var one Problem
	switch {
	case errors.As(err, &l):
		return l, true
	case errors.As(err, &one):
		return List{one}, true
	default:
		return nil, false
	}
}

// Text renders err for a person: with excerpts where it holds problems, and as
// err.Error() otherwise.
func Text(err error) string {
	if l, ok := Find(err); ok {
		return l.Text()
	}
	return err.Error()
}

// Lines returns the text of errors, one a line.
func Lines[E error](list []E) string {
	lines := make([]string, len(list))
	for i, err := range list {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// Errors returns the elements of a list of errors as its Unwrap method does.
func Errors[E error](list []E) []error {
	errs := make([]error, len(list))
	for i, err := range list {
		errs[i] = err
	}
	return errs
}
