package shell

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// endsElsewhere reports whether bash may end a here document on a different line than the parser
// does. Unless the delimiter is quoted, bash first joins lines that end with a backslash.
func endsElsewhere(source string, rd *syntax.Redirect) bool {
	from, to := rd.Hdoc.Pos().Offset(), rd.Hdoc.End().Offset()
	switch {
	case !isText(rd.Word.Parts):
		return true
	case isQuoted(rd.Word):
		return false
	case from > to || to > uint(len(source)):
		return true
	}
	for strings.HasSuffix(source[:from], "\\\n") {
		from -= 2 // the parser has already joined the lines that end with a backslash
	}
	body, delimiter := source[from:to], rd.Word.Lit()
	if !strings.Contains(body, "\\\n") {
		return false
	}
	if end := strings.LastIndexByte(body, '\n'); strings.TrimLeft(body[end+1:], "\t") == delimiter {
		body = body[:end]
	}
	// If the body ends with a backslash, bash joins its last line with the delimiter line.
	return strings.HasSuffix(body, "\\") || strings.Contains("\n"+unbroken.Replace(body)+"\n", "\n"+delimiter+"\n")
}

// unbroken prepares a here document for the search for its delimiter. Like bash, it first joins
// lines that end with a backslash. It also removes other backslashes and tabs, because bash may
// drop them.
var unbroken = strings.NewReplacer("\\\n", "", "\\", "", "\t", "")

// unescape returns the value of the string $'...', where s is the text between the quotes. ok is
// false if shells disagree about this value.
func unescape(s string) (text string, ok bool) {
	var b []byte
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b = append(b, s[i])
			continue
		}
		if i++; i == len(s) {
			return "", false
		}
		if at := strings.IndexByte(`abfnrtv\'"?`, s[i]); at >= 0 {
			b = append(b, "\a\b\f\n\r\t\v\\'\"?"[at])
			continue
		}
		var digits string
		base := 8
		switch {
		case s[i] == 'x':
			base = 16
			digits = leadingDigits(s[i+1:], 2, "0123456789abcdefABCDEF")
			i++
		case '0' <= s[i] && s[i] <= '7':
			digits = leadingDigits(s[i:], 3, "01234567")
		}
		n, err := strconv.ParseUint(digits, base, 8)
		if err != nil || n == 0 || n >= utf8.RuneSelf {
			return "", false
		}
		b = append(b, byte(n))
		i += len(digits) - 1
	}
	return string(b), true
}

// leadingDigits returns the longest prefix of s, of at most limit bytes, that consists of
// characters in digits.
func leadingDigits(s string, limit int, digits string) string {
	s = s[:min(limit, len(s))]
	return s[:len(s)-len(strings.TrimLeft(s, digits))]
}

// misreadQuotes describes the quotes that the parser and bash read differently: quotes in a
// double-quoted ${...}, or in an expansion inside it. There, bash treats single quotes as ordinary
// characters and expands the text between them.
func misreadQuotes(p *syntax.ParamExp) (doubts []string) {
	syntax.Walk(p, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			return false // quotes within a substitution have their usual meaning
		case *syntax.SglQuoted:
			if strings.ContainsAny(n.Value, "$`\"{}\\") {
				doubts = append(doubts, "single quotes within double quotes")
			}
		case *syntax.DblQuoted: // in "$"(rm x), the parser merely drops the quotes
			if n.Dollar || slices.ContainsFunc(n.Parts, func(part syntax.WordPart) bool {
				l, ok := part.(*syntax.Lit)
				return ok && strings.ContainsAny(l.Value, "$`<>")
			}) {
				doubts = append(doubts, "double quotes within double quotes")
			}
		}
		return true
	})
	return doubts
}
