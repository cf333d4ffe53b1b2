package jsonpath_test

import (
	"fmt"
	"testing"

	"github.com/petrigate/petrigate/internal/jsonpath"
)

func TestParse(t *testing.T) {
	for _, text := range []string{"$.a", "$.a.b", "$.files[*].path", "$.a[0][17]", `$["odd \"key].x"]`, `$[*]`} {
		if _, err := jsonpath.Parse(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, want := range map[string]jsonpath.Error{
		"a":          {0, "a path must begin with $"},
		"$":          {1, "the path names no field"},
		"$a":         {1, `unexpected "a": a step is .key, [*], [0] or ["key"]`},
		"$.a..b":     {3, "a key is missing after the dot"},
		"$.a[":       {3, "the bracket is not closed"},
		"$.a[x]":     {3, `"x" is neither * nor the number of an element`},
		"$.a[-1]":    {3, `"-1" is neither * nor the number of an element`},
		"$.a[01]":    {3, `"01" is neither * nor the number of an element`},
		`$["a]`:      {1, "the quoted key is not a JSON string"},
		`$["a"`:      {1, "the bracket is not closed"},
		`$["a"x]`:    {1, "the bracket is not closed"},
		"$.a[1]tail": {6, `unexpected "tail": a step is .key, [*], [0] or ["key"]`},
	} {
		if _, err := jsonpath.Parse(text); err == nil || *err != want {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
	}
}

// TestTexts checks the texts at a place; ~ marks weak texts.
func TestTexts(t *testing.T) {
	for _, c := range []struct{ path, doc, want string }{
		{"$.a.b", `{"a":{"b":"x"}}`, `["x"]`},
		{"$.a.b", `{"a":{"b":["x"]}}`, `["x"]~`},
		{"$.a.b", `{"a":{"b":["x","y"]}}`, `["x" "y" "x y"]~`},
		{"$.a.b", `{"a":["x"]}`, `["x"]~`},
		{"$.a.b", `{"a":{"b":"y","B":"x"}}`, `["y" "x" "y x"]~`},
		{"$.a.b", `{"a":{}}`, `[]`},
		{"$.a[1]", `{"a":["x","y"]}`, `["y"]`},
		{"$.a[1]", `{"a":"x"}`, `["x"]~`},
		{"$.a[*].p", `{"a":[{"p":"x"},{"p":"y"}]}`, `["x" "y" "x y"]~`},
		{"$.a[*]", `{"a":[]}`, `[]~`},
	} {
		p, _ := jsonpath.Parse(c.path)
		if got := spell(p.Texts([]byte(c.doc))); got != c.want {
			t.Errorf("%s of %s: %s, want %s", c.path, c.doc, got, c.want)
		}
	}
	if got := spell(jsonpath.Empty()); got != `[""]` {
		t.Error(got)
	}
	if got := spell(jsonpath.Member([]byte(`{"A":"x"}`), "a")); got != `["x"]~` {
		t.Error(got)
	}
}

// TestKeys checks the keys of a path, which include an empty key for each array step.
func TestKeys(t *testing.T) {
	p, err := jsonpath.Parse(`$.a[0]["b c"][*].d`)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprintf("%q", p.Keys()), `["a" "" "b c" "" "d"]`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func spell(texts jsonpath.Texts) string {
	first := fmt.Sprintf("%q", texts.All())
	if again := fmt.Sprintf("%q", texts.All()); again != first {
		return "unsteady: " + again
	}
	if texts.Weak() {
		return first + "~"
	}
	return first
}

func TestExceeds(t *testing.T) {
	texts := jsonpath.Member([]byte(`{"a":["one","two"],"A":["three"]}`), "a")
	if texts.Exceeds(4, 100) || !texts.Exceeds(3, 100) || !texts.Exceeds(2, 100) || !texts.Exceeds(9, 12) || !texts.Exceeds(9, 23) || texts.Exceeds(9, 24) {
		t.Error("three texts of 11 bytes, and one with all of them of 13")
	}
}
