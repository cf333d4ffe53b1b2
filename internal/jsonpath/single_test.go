package jsonpath_test

import (
	"testing"

	"github.com/petrigate/petrigate/internal/jsonpath"
)

// TestSingle checks that Single returns a value only if all readers agree on it.
func TestSingle(t *testing.T) {
	for _, c := range []struct{ path, doc, want string }{
		{"$.a.b", `{"a":{"b":7}}`, "7"},
		{"$.a", `{"a":[1,2]}`, "[1,2]"},
		{"$.a[1]", `{"a":[1,2]}`, "2"},
		{"$.a.b", `{"a":{}}`, ""},
		{"$.a.b", `{"a":7}`, ""},
		{"$.a.b", `{"a":{"B":7}}`, ""},
		{"$.a.b", `{"a":{"b":7},"A":{"b":7}}`, ""},
		{"$.a[*]", `{"a":[1]}`, ""},
		{"$.a[*]", `{"a":[1,2]}`, ""},
	} {
		p, _ := jsonpath.Parse(c.path)
		if got, ok := p.Single([]byte(c.doc)); ok != (c.want != "") || ok && string(got) != c.want {
			t.Errorf("%s of %s: %s %v, want %s", c.path, c.doc, got, ok, c.want)
		}
	}
	if got, ok := jsonpath.SingleMember([]byte(`{"$.a":7}`), "$.a"); !ok || string(got) != "7" {
		t.Errorf("%s %v", got, ok)
	}
	if _, ok := jsonpath.SingleMember([]byte(`{"a":7,"A":7}`), "a"); ok {
		t.Error("two members")
	}
}
