package rules_test

import (
	"regexp"
	"testing"

	"github.com/petrigate/petrigate/rules"
)

func TestMatchWord(t *testing.T) {
	tests := []struct {
		word, text string
		want       bool
	}{
		{"rm", "rm -rf /", true},
		{"rm", "sudo rm", true},
		{"rm", "a;rm;b", true},
		{"rm", "farm", false},
		{"rm", "rms", false},
		{"rm", "_rm", false},
		{"rm", "rm_", false},
		{"rm", "rm2", false},
		{"rm", "2rm", false},
		{"rm", "RM", false},
		{"rm", "farm rm", true},
		{"rm", "ärm", true}, // the boundary is ASCII
		{"rm", "", false},
		{"--force", "git push --force", true},
		{"--force", "git push --force-with-lease", true},
		{"--force", "git push --forced", false},
		{"--force", "a--force", true},
		{"c++", "c++11", true},
		{"c++", "abc++", false},
		{"/etc", "cat /etc/passwd", true},
		{"/etc", "cat /etcetera", false},
		{"a.b", "axb", false},
		{"é", "caféine", true},
		{"löschen", "bitte löschen!", true},
		{"aa", "aaa", false},
		{"-a-", "x-a-a-", true},
	}
	for _, test := range tests {
		if got := rules.MatchWord(test.word)(test.text); got != test.want {
			t.Errorf("word %q in %q: %v", test.word, test.text, got)
		}
	}
}

// FuzzMatchWord compares the search with the regular expression that defines a word.
func FuzzMatchWord(f *testing.F) {
	f.Add("rm", "farm rm")
	f.Add("--force", "git push --force")
	f.Add("aba", "ababa aba")
	f.Fuzz(func(t *testing.T, word, text string) {
		expr := regexp.QuoteMeta(word)
		if regexp.MustCompile(`^\w`).MatchString(word) {
			expr = `\b` + expr
		}
		if regexp.MustCompile(`\w$`).MatchString(word) {
			expr += `\b`
		}
		re, err := regexp.Compile(expr)
		if err != nil || word == "" {
			t.Skip("no word of a rules file")
		}
		if got, want := rules.MatchWord(word)(text), re.MatchString(text); got != want {
			t.Errorf("word %q in %q: %v, and %s says %v", word, text, got, expr, want)
		}
	})
}

func TestMatchRegex(t *testing.T) {
	tests := []struct {
		expr, text string
		want       bool
	}{
		{`\bgit\s+push\b`, "git  push", true},
		{`\d`, "٣", false},
		{`\w`, "é", false},
		{`^rm`, "rm x", true},
		{`^rm`, "a rm", false},
		{`RM`, "rm", false},
	}
	for _, test := range tests {
		match, err := rules.MatchRegex(test.expr)
		if err != nil {
			t.Fatal(err)
		}
		if got := match(test.text); got != test.want {
			t.Errorf("%s in %q: %v", test.expr, test.text, got)
		}
	}
	for _, expr := range []string{"", "(", `(?=a)`} {
		if _, err := rules.MatchRegex(expr); err == nil {
			t.Errorf("%q is accepted", expr)
		}
	}
}

func TestNameMatches(t *testing.T) {
	tests := []struct {
		pattern, name string
		want          bool
	}{
		{"a", "a", true},
		{"a", "ab", false},
		{"*", "", true},
		{"*", "a.b/c", true},
		{"fs_*", "fs_", true},
		{"fs_*", "fs", false},
		{"*_*_x", "a_b_c_x", true},
		{"*_*_x", "a_x", false},
		{"?", "é", true},
		{"?", "", false},
		{"?b", "éb", true},
		{"*é?", "aéé", true},
		{"a*", "b", false},
		{"*a", "éa", true},
		{"[a]*", "a", false},
	}
	for _, test := range tests {
		if got := (rules.Name{Text: test.pattern}).Matches(test.name); got != test.want {
			t.Errorf("%q matches %q: %v", test.pattern, test.name, got)
		}
	}
	if (rules.Name{Text: "a*", Quoted: true}).Matches("ab") {
		t.Error("a quoted name is a pattern")
	}
}

// FuzzQuickly compares matching alone with matching after a search for the literal.
func FuzzQuickly(f *testing.F) {
	f.Add(`\bgit\s+push\b`, "git  push")
	f.Add(`(?:ab|cd)+x{0,2}(ef)`, "abef")
	f.Add(`(?i)rm -rf`, "RM -RF")
	f.Add(`a(bc){2,3}`, "abcbc")
	f.Add("a\ufffdb", "a\xffb")
	f.Fuzz(func(t *testing.T, expr, text string) {
		match, err := rules.MatchRegex(expr)
		if err != nil {
			return
		}
		if got, want := match(text), regexp.MustCompile(expr).MatchString(text); got != want {
			t.Errorf("%q in %q: %v, want %v", expr, text, got, want)
		}
	})
}
