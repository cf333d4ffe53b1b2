package cel

import (
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/common"

	"github.com/petrigate/petrigate/internal/text"
)

// An Error is one mistake in an expression.
type Error struct {
	Offset int // in bytes, from the beginning of the text
	Line   int // from 1
	Column int // in characters, from 1
	Msg    string
	Hint   string // what to write instead; may be empty
}

// Error is line:column: message (hint).
func (e *Error) Error() string {
	s := fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Msg)
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// ErrorList is every mistake of one text, in its order. It is what compiling
// returns where it fails.
type ErrorList []*Error

// Error is one line for each mistake.
func (l ErrorList) Error() string {
	lines := make([]string, len(l))
	for i, e := range l {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the single mistakes to [errors.As].
func (l ErrorList) Unwrap() []error {
	errs := make([]error, len(l))
	for i, e := range l {
		errs[i] = e
	}
	return errs
}

// issueAt quotes what cel-go says of src, at its position.
func issueAt(src string, e *common.Error) *Error {
	return errorAt(src, offsetOf(src, e.Location.Line(), e.Location.Column()), text.Escape(e.Message), "")
}

// errorAt is a mistake at a byte of src.
func errorAt(src string, offset int, msg, hint string) *Error {
	offset = min(max(offset, 0), len(src))
	before := src[:offset]
	line := strings.Count(before, "\n")
	column := len([]rune(before[strings.LastIndexByte(before, '\n')+1:]))
	return &Error{Offset: offset, Line: line + 1, Column: column + 1, Msg: msg, Hint: hint}
}

// offsetOf is the byte at a line, from 1, and a column in characters, from 0.
func offsetOf(src string, line, column int) int {
	at := 0
	for ; line > 1; line-- {
		next := strings.IndexByte(src[at:], '\n')
		if next < 0 {
			return len(src)
		}
		at += next + 1
	}
	for i := range src[at:] {
		if column == 0 {
			return at + i
		}
		column--
	}
	return len(src)
}

// sorted is the mistakes in the order of the text, each once.
func sorted(l ErrorList) error {
	slices.SortStableFunc(l, func(a, b *Error) int { return a.Offset - b.Offset })
	return slices.CompactFunc(l, func(a, b *Error) bool { return *a == *b })
}

// whole is a mistake that the text as a whole is.
func whole(msg, hint string) error {
	return ErrorList{{Line: 1, Column: 1, Msg: msg, Hint: hint}}
}
