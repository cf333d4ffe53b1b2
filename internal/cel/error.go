package cel

import (
	"slices"
	"strings"
	"unicode/utf8"

	"cel.dev/cel-go/common"

	"github.com/petrigate/petrigate/internal/diag"
)

// errorFrom creates a problem with the given message and hint, at a location that CEL reported.
func errorFrom(src string, l common.Location, msg, hint string) diag.Problem {
	return errorAt(src, offsetOf(src, l.Line(), l.Column()), msg, hint)
}

// errorAt creates a problem with the given message and hint, at a byte offset in src.
func errorAt(src string, offset int, msg, hint string) diag.Problem {
	before := src[:offset]
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
	return diag.Problem{Offset: offset, Line: strings.Count(before, "\n") + 1, Column: column + 1, Msg: msg, Hint: hint}
}

// offsetOf returns the byte offset of a position. Lines start at 1. Columns start at 0 and are in
// characters.
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

// sorted returns the problems in source order, without duplicates.
func sorted(l diag.List) error {
	slices.SortStableFunc(l, func(a, b diag.Problem) int { return a.Offset - b.Offset })
	return slices.Compact(l)
}

// whole returns a problem that concerns the source text as a whole.
func whole(msg, hint string) error {
	return diag.List{{Line: 1, Column: 1, Msg: msg, Hint: hint}}
}

// An Unreadable is the error for call data that an expression cannot read. Msg is the reason.
type Unreadable struct{ Msg string }

// Error returns the message.
func (e *Unreadable) Error() string { return e.Msg }
