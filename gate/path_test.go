package gate_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/petrigate/petrigate/gate"
)

func TestParsePath(t *testing.T) {
	for _, text := range []string{"$.a", "$.a.b", "$.files[*].path", "$.a[0][17]", `$["odd \"key].x"]`, `$[*]`} {
		if _, err := gate.ParsePath(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		"a":          "at byte 0: a path begins with $",
		"$":          "at byte 1: the path names no field",
		"$a":         `at byte 1: unexpected "a": a step is .key, [*], [0] or ["key"]`,
		"$.":         "at byte 1: a key is missing after the dot",
		"$.a..b":     "at byte 3: a key is missing after the dot",
		"$.a[":       "at byte 3: the bracket is not closed",
		"$.a[x]":     `at byte 3: "x" is neither * nor the number of an element`,
		"$.a[-1]":    `at byte 3: "-1" is neither * nor the number of an element`,
		"$.a[01]":    `at byte 3: "01" is neither * nor the number of an element`,
		`$["a]`:      "at byte 1: the quoted key is not a JSON string",
		`$["a"`:      "at byte 1: the bracket is not closed",
		`$["a"x]`:    "at byte 1: the bracket is not closed",
		"$.a[1]tail": `at byte 6: unexpected "tail": a step is .key, [*], [0] or ["key"]`,
	} {
		_, err := gate.ParsePath(text)
		var at *gate.PathError
		if !errors.As(err, &at) || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if p, err := gate.ParsePath("$.a[*]"); err != nil || !p.Many() {
		t.Error("a path with [*] leads to many values", err)
	}
	if p, err := gate.ParsePath("$.a[1]"); err != nil || p.Many() {
		t.Error("a path without [*] leads to one value", err)
	}
}

func TestPathsOfMaps(t *testing.T) {
	for _, c := range []struct {
		field, args, want string
	}{
		{"$.a.b", `{"a":{"b":"x"}}`, "t! hit"},
		{"$.a.b", `{"a":{"b":["x"]}}`, "t! hit~"},
		{"$.a.b", `{"a":{"b":"y"},"b":"x"}`, "t!"},
		{"$.a.b", `{"a":["x"]}`, "t! hit~"},
		{"$.a.b", `{"a":[{"b":"x"}]}`, "t! hit~"},
		{"$.a.b", `{"a":"{\"b\":\"x\"}"}`, "t! hit~"},
		{"$.a.b", `{"a":null}`, "t!"},
		{"$.a.b", `{"a":{"c":"x"}}`, "t!"},
		{"$[0]", `{"a":"x"}`, "t! hit~"},
		{"$.a.b", `{"a.b":"x"}`, "t!"},
		{"$.a[1]", `{"a":["x","y"]}`, "t!"},
		{"$.a[1]", `{"a":["y","x","y"]}`, "t! hit"},
		{"$.a[1]", `{"a":{"1":"x"}}`, "t! hit~"},
		{"$.a[1]", `{"a":["x"]}`, "t!"},
		{"$.a[*].p", `{"a":[{"p":"y"},{"q":"x"},{"p":"x"}]}`, "t! hit~"},
		{"$.a[*]", `{"a":["x"]}`, "t! hit~"},
		{"$.a[*]", `{"a":[]}`, "t!"},
		{"$.a[*]", `{"a":"x"}`, "t! hit~"},
		{"$.a[*].p", `{"a":{"p":"x"}}`, "t! hit~"},
		{"$.a[*].p", `{"a":[[{"p":"x"}],{"q":"y"}]}`, "t! hit~"},
		{`$["a"]["b.c"]`, `{"a":{"b.c":"x"}}`, "t! hit"},
		{"a", `{"A":"x"}`, "t! hit~"},
		{"a", `{"A":"x","a":"y"}`, "t! hit~"},
		{"a", `{"A":"y","a":"x"}`, "t! hit~"},
		{"a", `{"a":"x","A":null}`, "t! hit~"},
		{"a", `{"A":{"b":["x"]}}`, "t! hit~"},
		{"a", `{"A":"y"}`, "t!"},
		{"task", `{"ta\u017f\u212a":"x"}`, "t! hit~"},
		{"$.a.b", `{"A":{"b":"x"}}`, "t! hit~"},
		{"$.a.b", `{"a":{"b":"x"},"A":{}}`, "t! hit~"},
		{"$.a.b", `{"a":{"b":"y","B":"x"}}`, "t! hit~"},
		{"$.a.b", `{"a":{"b":"x","c":{"B":"y"}},"B":"y"}`, "t! hit"},
		{"$.a[1].b", `{"a":["y",{"b":"y","B":"x"}]}`, "t! hit~"},
		{"$.a[*].b", `{"A":[{"b":"y"},{"B":"x"}]}`, "t! hit~"},
	} {
		m := gate.Map{Tool: "t", Field: c.field, As: "hit", Source: "x", Match: contains("x")}
		p, err := gate.NewPolicy([]gate.Net{blockNet("hit")}, gate.PolicyOptions{Labels: labels(m)})
		if err != nil {
			t.Fatal(err)
		}
		if got := spell(p.Names(call("t " + c.args))); got != c.want {
			t.Errorf("%s of %s: %s, want %s", c.field, c.args, got, c.want)
		}
	}
}

func ExampleParsePath() {
	_, err := gate.ParsePath("$.files[*.path")
	fmt.Println(err)
	// Output: at byte 7: the bracket is not closed
}
