package wire

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// OwnMeta begins the names of members that are this proxy's: by them it tells what
// it decided, and which upstream asks. What an upstream writes under such a name
// is taken out of its messages, wherever it stands in them.
const OwnMeta = "io.petrigate/"

// isOwn reports whether a name is one of ours, in any letter case: there are readers
// that do not tell the cases apart.
func isOwn(name []byte) bool {
	return len(name) >= len(OwnMeta) && bytes.EqualFold(name[:len(OwnMeta)], []byte(OwnMeta))
}

// withoutOwn is a message, or a part of one, without the members that are ours. One
// that names us and cannot be read to its end is null: it could be read as anything.
func withoutOwn(doc []byte) []byte {
	if !mayNameUs(doc) {
		return doc
	}
	s := scrubber{src: doc}
	if !s.copy() {
		return []byte("null")
	}
	if !s.dropped {
		return doc
	}
	return s.dst
}

// mayNameUs reports whether a name of ours may stand in doc. Most documents are told apart
// without reading them as JSON. Where slashes or escapes are frequent, as in a file of many
// lines, looking at each costs more than looking at the keys alone.
func mayNameUs(doc []byte) bool {
	looks := fewLooks + len(doc)/bytesPerLook
	if may, done := mentionsUs(doc, looks); done {
		return may
	}
	if _, _, found, readable := ownMember(doc, 0); readable {
		return found
	}
	may, _ := mentionsUs(doc, len(doc))
	return may
}

const (
	fewLooks     = 16
	bytesPerLook = 1024
)

// mentionsUs reports whether doc has the letters of our name, or escapes that may stand
// for them. It is done only if doc has no more slashes and backslashes than looks.
func mentionsUs(doc []byte, looks int) (may, done bool) {
	for at := 0; ; at++ {
		i := bytes.IndexByte(doc[at:], '/')
		if i < 0 {
			break
		}
		if looks--; looks < 0 {
			return false, false
		}
		at += i
		before := bytes.TrimSuffix(doc[:at], []byte(`\`))
		if n := len(OwnMeta) - 1; len(before) >= n && bytes.EqualFold(before[len(before)-n:], []byte(OwnMeta[:n])) {
			return true, true
		}
	}
	for at := 0; ; at += 2 {
		i := bytes.IndexByte(doc[at:], '\\')
		if i < 0 || at+i+6 > len(doc) {
			return false, true
		}
		if looks--; looks < 0 {
			return false, false
		}
		at += i
		if doc[at+1] == 'u' && spelled(doc[at+2:at+6]) {
			return true, true
		}
	}
}

// spelled reports whether the digits of an escape stand for a letter of our name.
func spelled(digits []byte) bool {
	n, err := strconv.ParseUint(string(digits), 16, 16)
	return err == nil && n < utf8.RuneSelf && strings.ContainsRune(OwnMeta, unicode.ToLower(rune(n)))
}

// A scrubber copies a document in one pass, whatever its depth.
type scrubber struct {
	dst, src []byte
	at       int // what is before it is copied, or left out
	dropped  bool
}

// copy reports whether the document could be read as far as that takes.
func (s *scrubber) copy() bool {
	for i := 0; ; {
		from, to, found, readable := ownMember(s.src, i)
		switch {
		case !readable:
			return false
		case found:
			i = s.leaveOut(from, to)
			continue
		case s.dropped:
			s.dst = append(s.dst, s.src[s.at:]...)
		}
		return true
	}
}

// ownMember finds the first member of ours that begins at i or after it, from its key to
// the end of its value. The document is readable if its strings end, up to there, and so
// does that value.
func ownMember(doc []byte, i int) (from, to int, found, readable bool) {
	for i < len(doc) {
		if doc[i] != '"' {
			i++
			continue
		}
		end := rawjson.Skip(doc, i)
		if end < 0 {
			return 0, 0, false, false
		}
		colon := afterSpace(doc, end)
		if colon == len(doc) || doc[colon] != ':' || !ownLiteral(doc[i:end]) {
			i = end
			continue
		}
		to = rawjson.Skip(doc, afterSpace(doc, colon+1))
		return i, to, true, to >= 0
	}
	return 0, 0, false, true
}

func ownLiteral(lit []byte) bool {
	if bytes.IndexByte(lit, '\\') < 0 {
		return isOwn(lit[1 : len(lit)-1])
	}
	name, ok := rawjson.String(lit)
	return !ok || isOwn([]byte(name)) // what cannot be read may be any name
}

// leaveOut leaves the member from..to out, with one of the commas beside it, and
// returns where the copy goes on.
func (s *scrubber) leaveOut(from, to int) int {
	s.dst = append(s.dst, s.src[s.at:from]...)
	s.dropped = true
	if before := bytes.TrimRight(s.dst, " \t"); bytes.HasSuffix(before, []byte{','}) {
		s.dst = before[:len(before)-1]
	} else if next := afterSpace(s.src, to); next < len(s.src) && s.src[next] == ',' {
		to = next + 1
	}
	s.at = to
	return to
}

func afterSpace(doc []byte, i int) int { return len(doc) - len(bytes.TrimLeft(doc[i:], " \t\r\n")) }
