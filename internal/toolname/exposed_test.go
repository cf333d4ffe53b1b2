package toolname

import (
	"strings"
	"testing"
)

// FuzzExposed checks that every name is valid for all clients, and that different names stay
// different.
func FuzzExposed(f *testing.F) {
	f.Add("fs_", "read", "re.ad")
	f.Add("", "a.b", "a/b")
	f.Add("", strings.Repeat("x", 65), strings.Repeat("x", 66))
	f.Fuzz(func(t *testing.T, prefix, a, b string) {
		one, two := Exposed(prefix, a), Exposed(prefix, b)
		for _, name := range []string{one, two} {
			if len(name) > maxExposed || strings.Trim(name, exposable) != "" {
				t.Errorf("%q", name)
			}
		}
		if a != b && one == two {
			t.Errorf("%q and %q are both %q", a, b, one)
		}
	})
}

// TestPrefix checks that a configured prefix applies, even an empty one, and that without one,
// several servers are distinguished by their names.
func TestPrefix(t *testing.T) {
	for _, c := range []struct {
		prefix            string
		configured, alone bool
		want              string
	}{
		{"", false, true, ""}, {"", false, false, "git_"},
		{"", true, true, ""}, {"", true, false, ""},
		{"g", true, true, "g_"}, {"g", true, false, "g_"},
	} {
		if got := Prefix("git", c.prefix, c.configured, c.alone); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
