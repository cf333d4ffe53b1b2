package approval

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
)

const (
	maxWarnings   = 8
	maxCharacters = 5   // maximum number of distinct characters that a warning lists
	maxQuoted     = 100 // maximum number of bytes that a warning quotes
	manySpaces    = 100 // minimum number of consecutive spaces that is suspicious, because it can push text out of view
)

// warnings returns warnings about content that could mislead a person. It searches the forwarded
// values for hidden characters and long runs of spaces. Warnings that quote content use the
// displayed values, where secrets are masked.
func warnings(forwarded, seen [][]byte) []string {
	w := &warner{}
	for _, part := range forwarded {
		rawjson.Strings(part, w.characters)
	}
	if w.hidden > 0 {
		w.add(fmt.Sprintf("%s not visible, or %s where other text is shown, and %s written as an escape: %s",
			text.Subject(w.hidden, "character", "is", "are"), plural(w.hidden, "changes", "change"), plural(w.hidden, "is", "are"), w.characterNames()))
	}
	if w.spaces >= manySpaces {
		w.add(fmt.Sprintf("%d spaces or line breaks in a row: read to the end", w.spaces))
	}
	for _, part := range seen {
		rawjson.Strings(part, w.addresses)
	}
	if w.more {
		w.list = append(w.list, "there are more warnings of this kind")
	}
	return w.list
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// A warner collects the warnings about a call's content.
type warner struct {
	list   []string
	more   bool   // whether warnings were left out because there were too many
	hidden int    // number of hidden characters
	which  []rune // some of the hidden characters
	spaces int    // length of the longest run of spaces and newlines
}

func (w *warner) add(warning string) {
	switch {
	case slices.Contains(w.list, warning):
	case len(w.list) == maxWarnings:
		w.more = true
	default:
		w.list = append(w.list, warning)
	}
}

var crlf = []byte("\r\n")

// characters adds the hidden characters in s to w, and measures the longest run of spaces and
// newlines. Newlines and tabs do not count as hidden: they are normal in scripts and are displayed
// as escapes.
func (w *warner) characters(s []byte) bool {
	row := 0
	for i, size := 0, 0; i < len(s); i += size {
		var r rune
		r, size = utf8.DecodeRune(s[i:])
		if r != ' ' && r != '\n' {
			row = 0
		} else if row++; row > w.spaces {
			w.spaces = row
		}
		if usual := r == '\n' || r == '\t' || r == '\r' && bytes.HasPrefix(s[i:], crlf); usual || !text.Hidden(r) {
			continue
		}
		w.hidden++
		if !slices.Contains(w.which, r) && len(w.which) <= maxCharacters {
			w.which = append(w.which, r)
		}
	}
	return true
}

// characterNames returns the code points of the hidden characters.
func (w *warner) characterNames() string {
	names := make([]string, 0, len(w.which))
	for _, r := range w.which {
		names = append(names, fmt.Sprintf("U+%04X", r))
	}
	if len(names) > maxCharacters {
		return strings.Join(names[:maxCharacters], ", ") + " and others"
	}
	return strings.Join(names, ", ")
}

var (
	address = regexp.MustCompile(`(?i)[a-z][a-z0-9+.-]*://([^\s/?#"'<>\\]+)`)
	coded   = regexp.MustCompile(`(?i)\b(?:[a-z0-9-]+\.)*xn--[a-z0-9.-]+`) // matches a Punycode host name
	word    = regexp.MustCompile(`[\pL\pM]+`)
)

// addresses warns about names that could be mistaken for others: suspicious host names, and words
// that mix letters from several alphabets.
func (w *warner) addresses(b []byte) bool {
	if hasCode(b) {
		for _, host := range coded.FindAll(b, maxWarnings+1) {
			w.add(fmt.Sprintf("the host %s encodes non-ASCII letters", text.Excerpt(string(host), maxQuoted)))
		}
	}
	if bytes.IndexByte(b, '@') < 0 && bytes.IndexFunc(b, func(r rune) bool { return r >= 0x80 }) < 0 {
		return true
	}
	s := string(b)
	for _, found := range address.FindAllStringSubmatch(s, maxWarnings+1) {
		w.host(found[1])
	}
	for _, found := range word.FindAllString(address.ReplaceAllString(s, " "), -1) {
		if !ascii(found) && len(text.Alphabets(found)) > 1 && len(w.list) <= maxWarnings {
			w.add(fmt.Sprintf("the word %q mixes letters from several alphabets: %s", text.Excerpt(found, maxQuoted), nonASCII(found)))
		}
	}
	return true
}

// hasCode reports whether s might contain a Punycode host name. This quick test avoids running a
// slow regular expression on most content.
func hasCode(s []byte) bool {
	for from := 0; ; {
		at := bytes.Index(s[from:], dashes)
		if at < 0 {
			return false
		}
		if at += from; at >= 2 && s[at-2]|0x20 == 'x' && s[at-1]|0x20 == 'n' {
			return true
		}
		from = at + 1
	}
}

var dashes = []byte("--")

// host warns about the host part of a URL if it contains a user name or non-ASCII letters.
func (w *warner) host(authority string) {
	at := strings.LastIndexByte(authority, '@')
	host, _, _ := strings.Cut(authority[at+1:], ":")
	if at >= 0 {
		w.add(fmt.Sprintf("an address has a user name before its host, %s", text.Excerpt(host, maxQuoted)))
	}
	if !ascii(host) {
		w.add(fmt.Sprintf("the host %q has non-ASCII letters (%s): it is %s", text.Excerpt(host, maxQuoted), nonASCII(host), text.Excerpt(punycodeHost(host), maxQuoted)))
	}
}

// nonASCII returns the code points of the non-ASCII characters in s.
func nonASCII(s string) string {
	w := &warner{}
	for _, r := range s {
		if r >= 0x80 && !slices.Contains(w.which, r) && len(w.which) <= maxCharacters {
			w.which = append(w.which, r)
		}
	}
	return w.characterNames()
}

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0
}
