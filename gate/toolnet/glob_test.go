package toolnet_test

import (
	"path"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/petrigate/petrigate/gate/toolnet"
)

func TestMatchGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{"", "", true}, {"", "a", false}, {"*", "", true}, {"*", "a.b/c", true},
		{"a*", "abc", true}, {"a*", "ba", false}, {"*c", "abc", true}, {"a*c", "abcbc", true}, {"a*c", "abcb", false},
		{"?", "é", true}, {"?", "", false}, {"??", "é", false}, {"*??", "€", false}, {"a?c", "abc", true}, {"a**c", "ac", true},
		{"*a?b*", "xxayb", true}, {"[a]", "a", false}, {"[a]", "[a]", true}, {`\*`, `\x`, true},
	} {
		if got := toolnet.MatchGlob(c.pattern, c.s); got != c.want {
			t.Errorf("MatchGlob(%q, %q) = %v", c.pattern, c.s, got)
		}
	}
}

// FuzzMatchGlob compares with the standard library for patterns that mean the same in both.
func FuzzMatchGlob(f *testing.F) {
	f.Add("a*b?", "axxbc")
	f.Fuzz(func(t *testing.T, pattern, s string) {
		if strings.ContainsAny(pattern, `[]\/`) || strings.Contains(s, "/") {
			return
		}
		if strings.Contains(pattern, "*") && strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) {
			return // path.Match allows * to end within a character
		}
		want, err := path.Match(pattern, s)
		if err != nil {
			return
		}
		if got := toolnet.MatchGlob(pattern, s); got != want {
			t.Errorf("MatchGlob(%q, %q) = %v", pattern, s, got)
		}
	})
}
