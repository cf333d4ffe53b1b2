package toolnet_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/petrigate/petrigate/gate/toolnet"
)

func TestParsePath(t *testing.T) {
	for _, text := range []string{"$.a", "$.a.b", "$.files[*].path", "$.a[0][17]", `$["odd \"key].x"]`, `$[*]`} {
		if _, err := toolnet.ParsePath(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		"a":          "at byte 0: a path must begin with $",
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
		_, err := toolnet.ParsePath(text)
		var at *toolnet.PathError
		if !errors.As(err, &at) || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if p, err := toolnet.ParsePath("$.a[*]"); err != nil || !p.Many() {
		t.Error("a path with [*] leads to many values", err)
	}
	if p, err := toolnet.ParsePath("$.a[1]"); err != nil || p.Many() {
		t.Error("a path without [*] leads to one value", err)
	}
}

func ExampleParsePath() {
	_, err := toolnet.ParsePath("$.files[*.path")
	fmt.Println(err)
	// Output: at byte 7: the bracket is not closed
}
