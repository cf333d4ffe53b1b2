// Package plain makes text that people read without being misled by it: in
// questions, refusals, logs and lists.
package plain

import (
	"bytes"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Span is a time for people: whole seconds, and no seconds of a whole minute.
func Span(d time.Duration) string {
	text := d.Round(time.Second).String()
	if d.Round(time.Second)%time.Minute == 0 && d >= time.Minute {
		text = strings.TrimSuffix(text, "0s")
	}
	return text
}

// Lines is [Visible] of each line of a text that we broke ourselves.
func Lines(text []byte) string {
	lines := bytes.Split(text, []byte("\n"))
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = Visible(string(line))
	}
	return strings.Join(out, "\n")
}

// Visible makes a string show what it is: every character that moves the
// cursor, changes the direction, is invisible, or only looks like a space
// becomes an escape. It is the one sanitiser for all that people read.
func Visible(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case hidden(r):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// hidden reports whether r would not be seen for what it is.
func hidden(r rune) bool {
	if r == ' ' {
		return false
	}
	return !unicode.IsPrint(r) || unicode.IsSpace(r) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Variation_Selector, r) ||
		r == '\u3164' || r == '\uffa0' || r == '\u115f' || r == '\u1160' || r == '\u2800'
}
