// Package diag describes problems in the user's files and expressions. It formats them for people
// and as JSON, with positions, messages, hints and excerpts of the source.
package diag

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/list"
)

// A Position is a place in a file. Lines and columns are counted from 1; columns count characters.
// A zero Line stands for the whole file, and a zero Column for the whole line.
type Position struct {
	File         string
	Line, Column int
}

// String returns the position in the form file:line:column. It leaves out the parts that are
// unknown.
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

// A Problem is an error or a possible mistake in a file or an expression. It never contains a
// secret.
type Problem struct {
	Severity Severity `json:"severity"`
	Code     string   `json:"code"` // code, explained in docs/codes.md; may be empty
	File     string   `json:"file"`
	Line     int      `json:"line"`   // line number, starting at 1; 0 if the problem is not tied to a line
	Column   int      `json:"column"` // column in characters, starting at 1
	Msg      string   `json:"message"`
	Hint     string   `json:"hint"`          // what to write instead; may be empty
	Net      string   `json:"net,omitempty"` // name of the hand-written net that contains the problem; may be empty
	Excerpt  string   `json:"-"`             // source line with carets below it; may be empty
	Detail   string   `json:"-"`             // further lines of explanation; may be empty
	Offset   int      `json:"-"`             // byte offset of the problem in an expression
}

// Severity determines whether a file with the problem can be loaded.
type Severity string

const (
	Error   Severity = "error" // the file cannot be loaded
	Warning Severity = "warning"
	Note    Severity = "note" // the problem is for information only
)

// At returns a problem at the given position. The problem has neither a severity nor a code.
func At(pos Position, msg, hint string) Problem {
	return Problem{File: pos.File, Line: pos.Line, Column: pos.Column, Msg: msg, Hint: hint}
}

// Position returns the problem's position.
func (p Problem) Position() Position { return Position{p.File, p.Line, p.Column} }

// message returns the problem's message, preceded by the name of the net that contains the problem,
// if any.
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

// Text returns the text of [Problem.Error], followed by the excerpt, if any, on further lines.
func (p Problem) Text() string {
	if p.Excerpt == "" {
		return p.Error()
	}
	return p.Error() + "\n" + p.Excerpt
}

// A List is a list of problems. A nonempty List is an error.
type List []Problem

// Error returns all problems, one per line.
func (l List) Error() string { return Lines(l) }

// Unwrap returns the problems as errors, for use by [errors.As].
func (l List) Unwrap() []error { return Errors(l) }

// Text returns the text of every problem; see [Problem.Text].
func (l List) Text() string {
	return strings.Join(list.Map(l, Problem.Text), "\n")
}

// Of returns the problems that have the given severity.
func (l List) Of(s Severity) List {
	return list.Filter(l, func(p Problem) bool { return p.Severity == s })
}

// Coded returns a copy of the list. Problems without a code get the given severity and code.
func (l List) Coded(s Severity, code string) List {
	l = slices.Clone(l)
	for i := range l {
		if l[i].Code == "" {
			l[i].Severity, l[i].Code = s, code
		}
	}
	return l
}

// Sort sorts the problems by file and position. The files keep the order of their first occurrence
// in the list.
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

// Find returns the problems in err. ok is true if err is or wraps a [List] or a [Problem].
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

// Text formats err for people. If err contains problems, the text includes their excerpts;
// otherwise it is err.Error().
func Text(err error) string {
	if l, ok := Find(err); ok {
		return l.Text()
	}
	return err.Error()
}

// Lines returns the text of every error, one per line.
func Lines[E error](errs []E) string {
	return strings.Join(list.Map(errs, E.Error), "\n")
}

// Errors converts a list of errors to []error, for use in Unwrap methods.
func Errors[E error](errs []E) []error {
	return list.Map(errs, func(err E) error { return err })
}
