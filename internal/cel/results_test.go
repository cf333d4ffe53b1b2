package cel

import (
	"fmt"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
)

// TestResultsRefuse checks that a condition on results cannot read the arguments.
func TestResultsRefuse(t *testing.T) {
	for src, want := range map[string]string{
		"args.a == 1": "the call's arguments are not available where its result is judged (use result and text)",
		"result":      "",
		"size(text)":  "the expression yields a number, not true or false",
	} {
		_, err := NewResults().Condition(src)
		if got := fmt.Sprint(err); (want == "") != (err == nil) || !strings.Contains(got, want) {
			t.Errorf("%s: %s", src, got)
		}
	}
}

// TestResultsUntyped checks that the type of a field is unknown before evaluation while that of a
// comparison is known.
func TestResultsUntyped(t *testing.T) {
	for src, want := range map[string]bool{
		"result": true, "result.a": true, "result['a']": true, "has(result.a) ? result.a : result.b": true,
		"result.a == true": false, "!result.a": false, "has(result.a)": false, "result.a || result.b": false, "true": false,
	} {
		r := NewResults()
		number, err := r.Condition(src)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Untyped(number); got != want {
			t.Errorf("%s: %v, want %v", src, got, want)
		}
	}
}

func TestResults(t *testing.T) {
	r := NewResults()
	for _, c := range []struct {
		condition, value, text string
		want                   bool
	}{
		{"result.exitCode == 0", `{"exitCode": 0}`, "", true},
		{"result.exitCode == 0", `{"exitCode": 0.0}`, "", true},
		{"result.exitCode == 0", `{"exitCode": 3}`, "", false},
		{"result.exitCode == 0", `{"exitCode": "0"}`, "", false},
		{"result.exitCode == 0", `{"exit": 0}`, "", false},
		{"result.exitCode == 0", ``, "exit code 0", false},
		{"!has(result.error)", ``, "", false},
		{"!has(result.error)", `{}`, "", true},
		{"result == null", ``, "", false},
		{"result == null", `null`, "", true},
		{`text.contains("exit code 0")`, ``, "Process ended with exit code 0", true},
		{`text.contains("exit code 0")`, ``, "", false},
		{`text.contains("0") && tool == "sh"`, `{"a":1}`, "0", true},
		{"result.steps.all(s, s.ok)", `{"steps": [{"ok": true}, {"ok": true}]}`, "", true},
		{"result.steps.all(s, s.ok)", `{"steps": [{"ok": true}, {}]}`, "", false},
		{"result.value", `{"value": 1}`, "", false},
		{"result.value", `{"value": 0}`, "", false},
		{"result.value", `{"value": "true"}`, "", false},
		{"result.value", `{"value": false}`, "", false},
		{"result.value", `{"value": true}`, "", true},
		{"result", `true`, "", true},
		{"result", `{"value": true}`, "", false},
		{"size(result.a) > 1", `{"a":"` + strings.Repeat("x", maxArgs) + `"}`, "", false},
	} {
		number, err := r.Condition(c.condition)
		if err != nil {
			t.Fatal(err)
		}
		var value []byte
		if c.value != "" {
			value = []byte(c.value)
		}
		if got := r.Holds(&gate.Call{Tool: "sh"}, value, c.text, number); got != c.want {
			t.Errorf("%s of %.50s and %q: %v", c.condition, c.value, c.text, got)
		}
	}
}
