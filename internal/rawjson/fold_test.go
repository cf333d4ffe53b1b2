package rawjson_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// TestFold compares Fold with strings.EqualFold for every rune and its folded form.
func TestFold(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r == 0xD800 {
			r = 0xE000 // surrogates cannot occur in valid text
		}
		s := "k" + string(r)
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			if u := "K" + string(next); rawjson.Fold(s) != rawjson.Fold(u) {
				t.Errorf("%q and %q: %q, %q", s, u, rawjson.Fold(s), rawjson.Fold(u))
			}
		}
		if u := rawjson.Fold(s); !strings.EqualFold(s, u) || rawjson.Fold(u) != u {
			t.Errorf("%q: %q", s, u)
		}
	}
	if got := rawjson.Fold("Command_9"); got != "command_9" {
		t.Error(got)
	}
}

func TestVariants(t *testing.T) {
	for _, c := range []struct {
		doc, want string
		variants  bool
		all       string
	}{
		{`{"task":1,"b":2}`, "1", false, "1"},
		{`{"Task":1,"b":2}`, "", true, "1"},
		{`{"TA\u017fK":1,"task":2,"ta\u212asK":4,"tas\u212a":3}`, "2", true, "1 2 3"},
		{`{"tasks":1,"tas":2}`, "", false, ""},
		{`[1]`, "", false, ""},
	} {
		value, ok, variants := rawjson.Variants([]byte(c.doc), "task")
		var all []string
		rawjson.EachVariant([]byte(c.doc), "task", func(v []byte) { all = append(all, string(v)) })
		if string(value) != c.want || ok != (c.want != "") || variants != c.variants || strings.Join(all, " ") != c.all {
			t.Errorf("%s: %q %v %v %q", c.doc, value, ok, variants, all)
		}
	}
}
