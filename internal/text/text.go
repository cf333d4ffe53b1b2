// Package text makes text that people read without being misled by it: in
// questions, refusals, logs, lists and at terminals.
package text

import (
	"bytes"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Duration is a time for people: whole seconds, and no seconds of a whole minute.
func Duration(d time.Duration) string {
	s := d.Round(time.Second).String()
	if d.Round(time.Second)%time.Minute == 0 && d >= time.Minute {
		s = strings.TrimSuffix(s, "0s")
	}
	return s
}

// Exact formats a duration without the units behind it that are zero: 24h, 1h30m, 12.5s.
func Exact(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// RoundedUp formats a duration for people, rounded up to a second, or, below one,
// to a millisecond: 20s, 1m30s, 2h.
func RoundedUp(d time.Duration) string {
	unit := time.Second
	if d < time.Second {
		unit = time.Millisecond
	}
	return Exact((d + unit - 1) / unit * unit)
}

// Period is the time of a limit as rules write it: "day", or else "12h".
func Period(d time.Duration) string {
	switch d {
	case time.Second:
		return "second"
	case time.Minute:
		return "minute"
	case time.Hour:
		return "hour"
	case 24 * time.Hour:
		return "day"
	}
	return Exact(d)
}

// EscapeLines is [Escape] of each line of a text that we broke ourselves.
func EscapeLines(text []byte) string {
	lines := bytes.Split(text, []byte("\n"))
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = Escape(string(line))
	}
	return strings.Join(out, "\n")
}

// Caller returns who makes a call: the principal, and behind that what its client calls itself,
// which proves nothing. Both are excerpts of at most limit bytes.
func Caller(principal, client string, limit int) string {
	who := Excerpt(principal, limit)
	switch {
	case client == "":
		return who
	case who == "":
		who = "unknown principal"
	}
	return who + " (client " + Excerpt(client, limit) + ")"
}

// Excerpt is [Escape] of the beginning of a foreign text, of at most limit bytes
// of it, on one line. A tab becomes a space; dots stand for what was cut.
func Excerpt(s string, limit int) string {
	dots := ""
	if len(s) > limit {
		for limit > 0 && !utf8.RuneStart(s[limit]) {
			limit--
		}
		s, dots = s[:limit], "..."
	}
	return Escape(strings.ReplaceAll(s, "\t", " ")) + dots
}

// Escape makes a string show what it is: every character that moves the
// cursor, changes the direction, is invisible, or only looks like a space
// becomes an escape. It is the one sanitiser for all that people read.
func Escape(s string) string {
	if plain(s) {
		return s
	}
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

// plain reports whether every byte is a character that is seen, or a space.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// EscapeJSON is JSON that says the same with escapes for what [Escape] escapes: such
// characters can only stand within its strings.
func EscapeJSON(doc []byte) []byte {
	if !bytes.ContainsFunc(doc, hiddenInJSON) {
		return doc
	}
	out := make([]byte, 0, len(doc)+16)
	for _, r := range string(doc) {
		switch {
		case !hiddenInJSON(r):
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

func hiddenInJSON(r rune) bool { return r >= 0x7f && hidden(r) }

// Hidden reports whether [Escape] escapes r: it would not be seen for what it is.
func Hidden(r rune) bool { return hidden(r) }

// hidden reports whether r would not be seen for what it is.
func hidden(r rune) bool {
	if ' ' <= r && r <= '~' {
		return false
	}
	return !unicode.IsPrint(r) || unicode.IsSpace(r) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Variation_Selector, r) ||
		strings.ContainsRune(blanks, r)
}

// blanks have no property that says so, and are drawn as nothing: fillers, the
// empty Braille pattern, the object replacement character, blank hieroglyphs and
// the null note head.
const blanks = "\u3164\uffa0\u115f\u1160\u2800\ufffc\U00013441\U00013442\U0001d159"
