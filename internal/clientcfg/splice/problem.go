package splice

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/petrigate/petrigate/internal/diag"
)

// problemAt returns a problem at the given offset in the file's text.
func problemAt(name string, text []byte, offset int, msg, hint string) diag.List {
	line, column := position(text, offset)
	return diag.List{{File: name, Line: line, Column: column, Msg: msg, Hint: hint}}
}

// position converts an offset to a line and a column, both counted from 1.
func position(text []byte, offset int) (line, column int) {
	before := text[:min(max(offset, 0), len(text))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1
}

func refused(name string, err error) error {
	return diag.List{{File: name, Msg: fmt.Sprintf("petrigate cannot edit the file in this form: %v", err), Hint: "edit it by hand; nothing was written"}}
}

// wrongKind returns a problem about the value at the given place. The value should be a list if
// at.Named is set, and a mapping otherwise.
func wrongKind(name string, line, column int, at Place) diag.List {
	want := "a mapping"
	if at.Named != "" {
		want = "a list"
	}
	return diag.List{{File: name, Line: line, Column: column, Msg: fmt.Sprintf("%s must be %s of servers", strconv.Quote(at.String()), want), Hint: "correct it, or remove the key"}}
}
