package cel

import (
	"slices"
	"strings"

	"cel.dev/cel-go/common"

	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/text"
)

// issueAt quotes what cel-go says of src, at its position.
func issueAt(src string, e *common.Error) diag.Problem {
	return errorAt(src, offsetOf(src, e.Location.Line(), e.Location.Column()), text.Escape(e.Message), "")
}

// errorAt is a mistake at a byte of src.
func errorAt(src string, offset int, msg, hint string) diag.Problem {
	offset = min(max(offset, 0), len(src))
	before := src[:offset]
	line := strings.Count(before, "\n")
	column := len([]rune(before[strings.LastIndexByte(before, '\n')+1:]))
	return diag.Problem{Offset: offset, Line: line + 1, Column: column + 1, Msg: msg, Hint: hint}
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
func sorted(l diag.List) error {
	slices.SortStableFunc(l, func(a, b diag.Problem) int { return a.Offset - b.Offset })
	return slices.Compact(l)
}

// whole is a mistake that the text as a whole is.
func whole(msg, hint string) error {
	return diag.List{{Line: 1, Column: 1, Msg: msg, Hint: hint}}
}
