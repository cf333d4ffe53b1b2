package cel

import (
	"errors"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/diag"
)

func TestErrors(t *testing.T) {
	tests := []struct{ src, want string }{
		{`arg.amount > 5`, `1:1: undeclared reference to 'arg' (did you mean 'args'?)`},
		{`mata.x == 1`, `1:1: undeclared reference to 'mata' (did you mean 'meta'?)`},
		{`env.HOME == "x"`, `1:1: undeclared reference to 'env'`},
		{"args.a == 1 &&\n  nope > 1", `2:3: undeclared reference to 'nope'`},
		{`tool = "x"`, `1:6: Syntax error: token recognition error at: '= '`},
		{`true and false`, `1:6: Syntax error: mismatched input 'and' expecting <EOF>`},
		{`true or false`, `1:6: Syntax error: mismatched input 'or' expecting <EOF>`},
		{`tool ==`, `1:8: Syntax error: mismatched input '<EOF>' expecting`},
		{``, `1:1: Syntax error: mismatched input '<EOF>' expecting`},
		{`(tool == "x"`, `1:13: Syntax error: missing ')' at '<EOF>'`},
		{`tool == "x`, `1:9: Syntax error: token recognition error at: '"x'`},
		{"tool == \"x\n\"", `1:9: Syntax error: token recognition error at: '"x\u{a}'`},
		{`tool == 1`, `1:6: found no matching overload for '_==_' applied to '(string, int)'`},
		{`tool.startWith("x")`, `1:15: undeclared reference to 'startWith' (did you mean 'startsWith'?)`},
		{`tool.startsWith(1)`, `1:16: found no matching overload for 'startsWith' applied to 'string.(int)'`},
		{`tool.name == "x"`, `1:5: type 'string' does not support field selection`},
		{`tool`, `1:1: the expression yields a text, not true or false`},
		{`args`, `1:1: the expression yields a map, not true or false`},
		{`size(args)`, `1:1: the expression yields a number, not true or false`},
		{`tool.matches("(")`, `1:14: invalid matches argument`},
		{`marking.idel == 1`, `1:9: unknown place "idel" (did you mean "idle"?)`},
		{`marking[?"xyz"].hasValue()`, `unknown place "xyz" (places: idle, done)`},
		{`args.path in meta.?save.orValue([])`, `no transition remembers "save" (did you mean "saved"?)`},
		{`has(meta.zzz)`, `no transition remembers "zzz" (remembered: saved)`},
		{`timestamp("2020-01-01T00:00:00Z").getHours("Europe/Berlin") == 1`, `1:10: undeclared reference to 'timestamp'`},
		{`tool.matches(args.p)`, `1:18: the pattern in matches must be a literal (in quotes)`},
		{`now() == 1`, `1:4: undeclared reference to 'now'`},
		{strings.Repeat("(", 400) + "true" + strings.Repeat(")", 400), `1:805: expression recursion limit exceeded`},
		{`[1].all(a, [1].all(b, [1].all(c, [1].all(d, true))))`, `1:41: comprehension exceeds nesting limit`},
		{`"` + strings.Repeat("x", maxSource) + `" == tool`, "longer than"},
		{`"é" == tol`, `1:8: undeclared reference to 'tol' (did you mean 'tool'?)`},
		{`tool.matches("` + `(a{100}){10}` + `")`, `1:14: regex program size 1022 exceeds limit of 1000`},
	}
	for _, test := range tests {
		_, err := NewCompiler().Condition(test.src, &Names{Places: []string{"idle", "done"}, Remembered: []string{"saved"}})
		var list diag.List
		if !errors.As(err, &list) || len(list) == 0 {
			t.Errorf("%.60s: %v", test.src, err)
			continue
		}
		if got := list[0].Error(); !strings.Contains(got, test.want) {
			t.Errorf("%.60s:\n got %s\nwant %s", test.src, got, test.want)
		}
	}
}

// TestTooMuchWork checks that the compiler rejects an expression that is too expensive for any
// arguments.
func TestTooMuchWork(t *testing.T) {
	list := "[" + strings.Repeat("1,", 150) + "1]"
	_, err := NewCompiler().Value(list+".map(a, "+list+".map(b, "+list+".map(c, [a, b, c])))", nil)
	if err == nil || !strings.Contains(err.Error(), "too expensive") {
		t.Errorf("%v", err)
	}
}

func TestErrorsOfAll(t *testing.T) {
	_, err := NewCompiler().Condition("nope == 1\n|| nein == 2", nil)
	if err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("%v", err)
	}
	var e diag.Problem
	if !errors.As(err, &e) || e.Offset != 0 {
		t.Errorf("%+v", e)
	}
	_, err = NewReader().Expr("meta.x")
	if err == nil || err.Error() != `1:1: undeclared reference to 'meta'` {
		t.Errorf("%v", err)
	}
}

func TestTemplateErrors(t *testing.T) {
	for src, want := range map[string]string{
		"got {args.path":        `1:5: "{" without "}" (write "{{" for the character itself)`,
		"got }":                 `1:5: "}" without "{" (write "}}" for the character itself)`,
		"got {{x} ":             `1:8: "}" without "{" (write "}}" for the character itself)`,
		"got {arg.path} {nope}": "1:6: undeclared reference to 'arg' (did you mean 'args'?)\n1:17: undeclared reference to 'nope'",
		"got {}":                "1:6: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
	} {
		_, err := NewCompiler().Template(src, nil)
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v", src, err)
		}
	}
}
