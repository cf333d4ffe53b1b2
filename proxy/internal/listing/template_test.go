package listing

import "testing"

func TestMatchesTemplate(t *testing.T) {
	for _, c := range []struct {
		template, uri string
		want          bool
	}{
		{"a://{x}/data", "a://1/data", true},
		{"a://{x}/data", "a://1/data/2", false},
		{"a://{x}/data", "b://1/data", false},
		{"a://{x}", "a://", true},
		{"a://{x}{?y,z}", "a://1?y=2", true},
		{"a://x", "a://x", true},
		{"a://x", "a://xy", false},
		{"{+path}/end", "any/where/end", true},
		{"{+path}/end", "any/where", false},
		{"a://{x", "a://1", false},
		{"", "a", false},
		{"a{x}b{y}c", "a-b-c", true},
		{"a{x}b{y}c", "a-c-b", false},
	} {
		if got := MatchesTemplate(c.template, c.uri); got != c.want {
			t.Errorf("%q, %q: %v", c.template, c.uri, got)
		}
	}
}
