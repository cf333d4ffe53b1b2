package lsp

import (
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

func TestPositions(t *testing.T) {
	for _, test := range []struct {
		src    string
		offset int
		want   Position
	}{
		{"", 0, Position{}},
		{"block 𝄞 x", 10, Position{0, 8}},
		{"block ü x", 8, Position{0, 7}},
		{"a\r\nb", 3, Position{1, 0}},
		{"a\r\nb", 2, Position{0, 1}}, // a position between CR and LF is the end of the line
		{"a\rb\nc", 2, Position{1, 0}},
		{"a\rb\nc", 4, Position{2, 0}},
		{"a\n", 2, Position{1, 0}},
	} {
		if got := newContent(test.src).position(test.offset); got != test.want {
			t.Errorf("%q, %d: %v", test.src, test.offset, got)
		}
	}
	c := newContent("\ufeffblock rm\r\n  block ü𝄞z \r\n")
	for _, test := range []struct {
		line, column int
		want         Position
	}{
		{1, 1, Position{0, 1}}, {1, 7, Position{0, 7}}, {1, 99, Position{0, 9}},
		{2, 9, Position{1, 8}}, {2, 10, Position{1, 9}}, {2, 11, Position{1, 11}}, {2, 99, Position{1, 12}},
		{0, 1, Position{0, 0}}, {9, 9, Position{2, 0}},
	} {
		if got := c.position(c.place(test.line, test.column)); got != test.want {
			t.Errorf("%d:%d: %v, want %v", test.line, test.column, got, test.want)
		}
	}
	for _, p := range []Position{{-1, 5}, {0, -5}, {99, 0}, {1, 99}, {1, 10}} { // the last position is within a surrogate pair
		if at := c.offset(p); at < 0 || at > len(c.src) || !utf8.RuneStart((c.src + "x")[at]) {
			t.Errorf("%v: %d", p, at)
		}
	}
}

// FuzzPositions checks that offsets and positions can be converted into each other, and that UTF-16
// code units are counted as in the standard library.
func FuzzPositions(f *testing.F) {
	for _, src := range []string{"", "a\r\nb\rc\n", "\ufeff𝄞\n", "\xff\xf0x", "é\u2028x\x85"} {
		f.Add(src, 3, 1, 2)
	}
	f.Fuzz(func(t *testing.T, src string, offset, line, column int) {
		c := newContent(src)
		if p := (Position{line, column}); c.offset(p) < 0 || c.offset(p) > len(src) {
			t.Fatalf("%v is %d of %d", p, c.offset(p), len(src))
		}
		if at := c.place(line, column); at < 0 || at > len(src) {
			t.Fatalf("%d:%d is %d of %d", line, column, at, len(src))
		}
		extent(c, diagAt(line, column))
		src = strings.ToValidUTF8(src, "?")
		c = newContent(src)
		offset = min(max(offset, 0), len(src))
		if offset < len(src) && !utf8.RuneStart(src[offset]) {
			return
		}
		p := c.position(offset)
		if got := c.offset(p); got != offset && !(offset > 0 && src[offset-1] == '\r' && got == offset-1) {
			t.Fatalf("%q: %d is %v is %d", src, offset, p, got)
		}
		if begin := c.lines[p.Line]; offset >= begin && !strings.HasSuffix(src[begin:offset], "\r") && len(utf16.Encode([]rune(src[begin:offset]))) != p.Character {
			t.Fatalf("%q: %d is %v", src, offset, p)
		}
	})
}

// FuzzAnswers checks that the server does not panic for any text and position, and that a
// formatting edit produces the formatter's output.
func FuzzAnswers(f *testing.F) {
	for _, src := range []string{"require a before b once # c\n", "map \"a b\".$.c[\"d e\"] /x#\\/ y/i as z", "example t {\"a\": [1]} not as b", "block a,b,,\"c\" unless , \r x", "prove never a before", "\"\\", "{", "limit a to 3 per successful"} {
		f.Add(src, 0, 9)
	}
	s := &server{state: newState(nil), grammar: newGrammar(), snippets: true}
	f.Fuzz(func(t *testing.T, src string, line, character int) {
		if len(src) > 4096 {
			return
		}
		d := &document{content: newContent(src), path: "/x.rules", kind: rulesFile}
		p := Position{line, character}
		s.hover(d, p)
		s.completion(d, p)
		s.symbols(d, p)
		s.definition(d, p)
		edits, _ := s.formatting(d, p).([]textEdit)
		for _, e := range edits {
			from, to := d.offset(e.Range.Start), d.offset(e.Range.End)
			now := src[:from] + e.NewText + src[to:]
			again, _ := s.formatting(&document{content: newContent(now), path: "/x.rules"}, p).([]textEdit)
			if len(again) > 0 {
				t.Fatalf("%q becomes %q, which becomes another", src, now)
			}
		}
	})
}
