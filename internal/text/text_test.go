package text

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"
)

// TestEscape checks that exactly the misleading characters are escaped.
func TestEscape(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"as it is: naïve, 日本, 🙂 \\", "as it is: naïve, 日本, 🙂 \\"},
		{"a\nb\tc\x00", `a\u{a}b\u{9}c\u{0}`},
		{"\x1b[2J", `\u{1b}[2J`},
		{"\u200badm\u00adin\ufeff", `\u{200b}adm\u{ad}in\u{feff}`},
		{"\u2028\u00a0\u3000", `\u{2028}\u{a0}\u{3000}`},
		{"\ufffc\U0001d159\U00013441", `\u{fffc}\u{1d159}\u{13441}`},
		{"\u3164\uffa0\u115f\u1160\u2800", `\u{3164}\u{ffa0}\u{115f}\u{1160}\u{2800}`},
		{"a\ufe0f\U000e0041", `a\u{fe0f}\u{e0041}`},
		{"\xff\xe2\x82", `\xff\xe2\x82`},
		{"\ufffd", "\ufffd"},
	} {
		if got := Escape(c.in); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
	if got, want := EscapeLines([]byte("a\u202e\nb\r\n")), "a\\u{202e}\nb\\u{d}\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestEscapeJSON checks that misleading characters in strings are escaped, and that the JSON stays
// equivalent.
func TestEscapeJSON(t *testing.T) {
	for doc, want := range map[string]string{
		`{"a":"é\u003c 漢"}`: `{"a":"é\u003c 漢"}`,
		"{\"\u009b31m\":\"\u202e\u200b\x7f\U0001d159\",\n \"b\":1}": `{"\u009b31m":"\u202e\u200b\u007f\ud834\udd59",` + "\n" + ` "b":1}`,
	} {
		got := string(EscapeJSON([]byte(doc)))
		var before, after any
		if err := errors.Join(json.Unmarshal([]byte(doc), &before), json.Unmarshal([]byte(got), &after)); err != nil || got != want || !reflect.DeepEqual(before, after) {
			t.Errorf("%q: got %q, want %q (%v)", doc, got, want, err)
		}
	}
}

func TestExcerpt(t *testing.T) {
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{"a\tb\x1b[m", 9, `a b\u{1b}[m`}, {"abc", 3, "abc"}, {"abcd", 3, "abc..."}, {"aé", 2, "a..."}, {"日", 1, "..."}, {"\xff\xff\xff", 2, `\xff\xff...`},
	} {
		if got := Excerpt(c.in, c.limit); got != c.want {
			t.Errorf("%q up to %d: %q, want %q", c.in, c.limit, got, c.want)
		}
	}
}

// FuzzEscape checks that the result is always one line of visible characters.
func FuzzEscape(f *testing.F) {
	f.Add("a\u202eb")
	f.Add("\xf0\x28")
	f.Fuzz(func(t *testing.T, s string) {
		got := Escape(s)
		if strings.ContainsFunc(got, func(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }) {
			t.Errorf("%q: %q", s, got)
		}
		if Escape(got) != got {
			t.Errorf("%q is not plain", got)
		}
	})
}

func TestRoundedUp(t *testing.T) {
	for d, want := range map[time.Duration]string{
		20 * time.Second: "20s", 89*time.Second + 1: "1m30s", 2 * time.Hour: "2h", 5*time.Minute - 1: "5m", 1500 * time.Microsecond: "2ms",
	} {
		if got := RoundedUp(d); got != want {
			t.Errorf("%d: %s, want %s", d, got, want)
		}
	}
}

func TestExact(t *testing.T) {
	for d, want := range map[time.Duration]string{
		24 * time.Hour: "24h", 90 * time.Minute: "1h30m", 12500 * time.Millisecond: "12.5s", 10 * time.Minute: "10m", 0: "0s",
	} {
		if got := Exact(d); got != want {
			t.Errorf("%d: %s, want %s", d, got, want)
		}
	}
}

func TestFirst(t *testing.T) {
	for want, names := range map[string][]string{"": nil, "a": {"a"}, "a, b": {"a", "b"}, "a, b and 2 more": {"a", "b", "c", "d"}} {
		if got := First(2, names); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestCaller checks that the name of the client follows the principal and is marked as the
// client's.
func TestCaller(t *testing.T) {
	for want, c := range map[string][2]string{
		"ann (client claude-code)":                 {"ann", "claude-code"},
		"ann":                                      {"ann", ""},
		"unknown principal (client bob)":           {"", "bob"},
		"ann (client bob and a long one...)":       {"ann", "bob and a long one of many words"},
		"ann (client bob (client \\u{202e} an...)": {"ann", "bob (client \u202e and more"},
	} {
		if got := Caller(c[0], c[1], 18); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
