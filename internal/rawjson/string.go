package rawjson

import (
	"encoding/binary"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// String decodes the string literal lit. It returns false if [Check] would not accept lit as a
// string.
func String(lit []byte) (string, bool) {
	s, ok := decode(lit)
	return string(s), ok
}

// decode is like [String], but returns a slice of lit if lit has no escapes.
func decode(lit []byte) ([]byte, bool) {
	s, escaped, ok := content(lit)
	if escaped {
		s = unescape(s)
	}
	return s, ok
}

// Bare returns the text between the quotes of the string literal lit, as a slice of lit. It returns
// false if lit has escapes or is not a valid string literal.
func Bare(lit []byte) ([]byte, bool) {
	s, escaped, ok := content(lit)
	if escaped {
		return nil, false
	}
	return s, ok
}

// content returns the text between the quotes of the string literal lit, and whether it has
// escapes. The results are zero if lit is not a valid string literal.
func content(lit []byte) (text []byte, escaped, ok bool) {
	if peek(lit, 0) != '"' {
		return nil, false, false
	}
	end, escaped, msg := scanString(lit, 0)
	if msg != "" || end != len(lit) {
		return nil, false, false
	}
	return lit[1 : end-1 : end-1], escaped, true
}

// AppendString appends s to dst as a JSON string literal. Invalid UTF-8 becomes U+FFFD. HTML
// characters are not escaped.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		size := 1
		if c >= utf8.RuneSelf {
			var r rune
			if r, size = utf8.DecodeRuneInString(s[i:]); r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
		}
		dst = append(dst, s[start:i]...)
		dst = appendEscaped(dst, c)
		i += size
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// Characters that have a one-letter escape, and the letters of these escapes in the same order.
const (
	lettered = "\"\\\n\r\t\b\f/"
	letters  = `"\nrtbf/`
)

// appendEscaped appends the escape for an ASCII character. For a byte outside ASCII, it appends
// U+FFFD.
func appendEscaped(dst []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	if i := strings.IndexByte(lettered, c); i >= 0 {
		return append(dst, '\\', letters[i])
	}
	if c >= utf8.RuneSelf {
		return utf8.AppendRune(dst, utf8.RuneError)
	}
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

// scanString scans the string literal whose opening quote is at offset i. It returns the offset
// after the closing quote, and whether the literal contains escapes. If the literal is invalid, it
// returns the offset and the description of the error instead.
func scanString(doc []byte, i int) (end int, escaped bool, msg string) {
	i++
	for {
		i = skipPlain(doc, i)
		if i >= len(doc) {
			return len(doc), false, "unterminated string"
		}
		switch c := doc[i]; {
		case c == '"':
			return i + 1, escaped, ""
		case c == '\\':
			n, msg := scanEscape(doc[i:])
			if msg != "" {
				return i, false, msg
			}
			i += n
			escaped = true
		case c < ' ':
			return i, false, "control character in a string"
		default:
			r, n := utf8.DecodeRune(doc[i:])
			if r == utf8.RuneError && n == 1 {
				return i, false, "invalid UTF-8"
			}
			i += n
		}
	}
}

// scanEscape returns the length of the escape, or of the pair of surrogate escapes, at the start of
// s.
func scanEscape(s []byte) (n int, msg string) {
	switch c := peek(s, 1); {
	case strings.IndexByte(letters, c) >= 0:
		return 2, ""
	case c != 'u':
		return 0, "invalid escape"
	}
	r := hex4(s)
	switch {
	case r < 0:
		return 0, "invalid escape"
	case r == 0:
		return 0, "NUL in a string"
	case !utf16.IsSurrogate(r):
		return 6, ""
	case utf16.DecodeRune(r, hex4(s[6:])) == utf8.RuneError:
		return 0, "lone surrogate"
	}
	return 12, ""
}

// hex4 returns the number in the escape \uXXXX at the start of s, or -1 if s does not start with
// one.
func hex4(s []byte) rune {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(s[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// skipPlain returns the offset of the first byte at or after offset i that is not plain. Quotes,
// backslashes, control characters and bytes outside ASCII are not plain.
func skipPlain(doc []byte, i int) int {
	for len(doc)-i >= 8 {
		w := binary.LittleEndian.Uint64(doc[i:])
		// Only the lowest bit set in m is reliable: it is the high bit of the first byte that is
		// not plain.
		if m := quoteOrSlash(w) | ((w-ones*' ')&^w|w)&highs; m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
		i += 8
	}
	for i < len(doc) {
		if c := doc[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			break
		}
		i++
	}
	return i
}

// quoteOrSlash finds the first quote or backslash in w. Only the lowest bit set in the result is
// reliable: it is the high bit of that byte. The result is 0 if w contains neither.
func quoteOrSlash(w uint64) uint64 {
	quote := w ^ ones*'"'
	slash := w ^ ones*'\\'
	return ((quote-ones)&^quote | (slash-ones)&^slash) & highs
}

// Words whose bytes are all 0x01 and all 0x80, respectively.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// unescape decodes the contents of a string literal accepted by scanString.
func unescape(s []byte) []byte {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			out = append(out, s[i])
			i++
			continue
		}
		n, _ := scanEscape(s[i:])
		out = appendUnescaped(out, s[i:i+n])
		i += n
	}
	return out
}

// appendUnescaped appends the character denoted by the escape esc, which must be valid.
func appendUnescaped(dst, esc []byte) []byte {
	if esc[1] != 'u' {
		return append(dst, lettered[strings.IndexByte(letters, esc[1])])
	}
	r := hex4(esc)
	if len(esc) == 12 {
		r = utf16.DecodeRune(r, hex4(esc[6:]))
	}
	return utf8.AppendRune(dst, r)
}
