// Package text formats text for people, in questions, refusals, logs, lists and terminals, and
// escapes characters that could mislead them.
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

// Duration formats a duration rounded to seconds. From one minute on, it omits the seconds if they
// are zero.
func Duration(d time.Duration) string {
	s := d.Round(time.Second).String()
	if d.Round(time.Second)%time.Minute == 0 && d >= time.Minute {
		s = strings.TrimSuffix(s, "0s")
	}
	return s
}

// Exact formats a duration without trailing zero units: 24h, 1h30m, 12.5s.
func Exact(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// RoundedUp formats a duration, rounded up to whole seconds or, if it is shorter than one second,
// to whole milliseconds: 20s, 1m30s, 2h.
func RoundedUp(d time.Duration) string {
	unit := time.Second
	if d < time.Second {
		unit = time.Millisecond
	}
	return Exact((d + unit - 1) / unit * unit)
}

// EscapeLines applies [Escape] to each line of the text, keeping the line breaks.
func EscapeLines(text []byte) string {
	return strings.Join(EscapeAll(strings.Split(string(text), "\n")), "\n")
}

// Caller describes the caller of a tool. The description consists of the principal and the name
// that the client gives itself. This name is not verified. Each name is shortened to at most limit
// bytes.
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

// Excerpt shortens an untrusted string to at most limit bytes and adds "..." if anything was cut
// off. It then turns tabs into spaces and applies [Escape], so the result is on one line.
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

// Escape makes all characters of a string visible. It escapes bytes that are not valid UTF-8, and
// characters that move the cursor, change the text direction, are invisible, or look like a space
// without being one. It is the only function that sanitizes text for people.
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

// plain reports whether s consists of printable ASCII characters.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// EscapeJSON returns equivalent JSON with JSON escapes for the characters that [Escape] escapes. In
// JSON, these characters can occur only in strings.
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

// Hidden reports whether [Escape] escapes the character r.
func Hidden(r rune) bool { return hidden(r) }

// hidden reports whether the character r is invisible or misleading.
func hidden(r rune) bool {
	if ' ' <= r && r <= '~' {
		return false
	}
	return !unicode.IsPrint(r) || unicode.IsSpace(r) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Variation_Selector, r) ||
		strings.ContainsRune(blanks, r)
}

// blanks contains characters that look blank but have no Unicode property for this: fillers, the
// empty Braille pattern, the object replacement character, blank hieroglyphs and the null note
// head.
const blanks = "\u3164\uffa0\u115f\u1160\u2800\ufffc\U00013441\U00013442\U0001d159"
