package diag

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestExcerpt checks that the carets are below the right characters, whatever the line contains.
func TestExcerpt(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, c := range []struct {
		line          string
		column, width int
		want          string
	}{
		{"block rm", 7, 2, "    block rm\n          ^^"},
		{"\tblock\trm", 8, 2, "    \tblock\trm\n    \t     \t^^"},
		{"limit ü", 7, 1, "    limit ü\n          ^"},
		{"a\x1b[2Jb", 6, 1, "    a\\u{1b}[2Jb\n              ^"},
		{"a\u202eb", 2, 1, "    a\\u{202e}b\n     ^^^^^^^^"},
		{"rule", 5, 1, "    rule\n        ^"},
		{"rule  ", 6, 1, "    rule\n         ^"},
		{"rule", 0, 1, "    rule\n    ^"},
		{long, 200, 3, "    " + long[:160] + "\n    " + strings.Repeat(" ", 80) + "^^^"},
		{long, 1, 300, "    " + long[:80] + "\n    " + strings.Repeat("^", 80)},
	} {
		if got := Excerpt(c.line, c.column, c.width); got != c.want {
			t.Errorf("%.20q, %d, %d:\ngot\n%s\nwant\n%s", c.line, c.column, c.width, got, c.want)
		}
	}
}

func TestPosition(t *testing.T) {
	for want, p := range map[string]Position{
		"": {}, "f": {File: "f"}, "f:2": {File: "f", Line: 2}, "f:2:3": {"f", 2, 3}, "2:3": {"", 2, 3},
	} {
		if got := p.String(); got != want {
			t.Errorf("%+v: %q, want %q", p, got, want)
		}
	}
}

// TestList checks that problems are sorted by file in order of first occurrence, that they are
// found in errors, and that they keep an existing code.
func TestList(t *testing.T) {
	l := List{
		At(Position{"b", 3, 1}, "third", ""), At(Position{"a", 1, 1}, "fourth", ""),
		At(Position{"b", 1, 2}, "second", "h"), At(Position{"b", 1, 1}, "first", ""),
	}
	l.Sort()
	want := "b:1:1: first\nb:1:2: second (h)\nb:3:1: third\na:1:1: fourth"
	if got := l.Error(); got != want {
		t.Errorf("got %q", got)
	}
	l[0].Code, l[0].Severity, l[0].Excerpt = "W1", Warning, "    x"
	coded := l.Coded(Error, "E1")
	if len(coded.Of(Warning)) != 1 || len(coded.Of(Error)) != 3 || l[1].Code != "" {
		t.Errorf("%+v", coded)
	}
	if got, ok := Find(fmt.Errorf("reading: %w", l)); !ok || len(got) != 4 {
		t.Errorf("%v", got)
	}
	if got, ok := Find(fmt.Errorf("reading: %w", l[0])); !ok || len(got) != 1 {
		t.Errorf("%v", got)
	}
	if got := Text(l[:2]); got != "b:1:1: first\n    x\nb:1:2: second (h)" {
		t.Errorf("got %q", got)
	}
	if got := Text(errors.New("other")); got != "other" {
		t.Errorf("got %q", got)
	}
}

func ExampleProblem() {
	p := At(Position{"petrigate.rules", 2, 7}, "unknown tool \"delte\"", "did you mean \"delete\"?")
	p.Severity, p.Code, p.Excerpt = Warning, "W101", Excerpt("block delte", 7, 5)
	fmt.Println(p.Text())
	b, _ := json.Marshal(p)
	fmt.Println(string(b))
	// Output:
	// petrigate.rules:2:7: unknown tool "delte" (did you mean "delete"?)
	//     block delte
	//           ^^^^^
	// {"severity":"warning","code":"W101","file":"petrigate.rules","line":2,"column":7,"message":"unknown tool \"delte\"","hint":"did you mean \"delete\"?"}
}
