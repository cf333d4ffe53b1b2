package cel

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/petrigate/petrigate/gate"
)

func firing(args string, meta gate.Meta) gate.Firing {
	return gate.Firing{
		Call: gate.Call{Tool: "exec", Args: []byte(args)}, Name: "delete", Meta: meta,
		Marking: gate.Marking{{Place: "idle", Count: 2}, {Place: "odd place"}},
	}
}

func TestCondition(t *testing.T) {
	tests := []struct {
		expr, args string
		want       string // "true", "false" or a part of the error
	}{
		{`args.path.startsWith("/workspace/")`, `{"path":"/workspace/a"}`, "true"},
		{`args.path.startsWith("/workspace/")`, `{"path":"/etc"}`, "false"},
		{`args.path.startsWith("/workspace/")`, `{}`, "no such key: path"},
		{`args.path.startsWith("/workspace/")`, `{"path":7}`, "no such overload"},
		{`args.path in meta.?saved.orValue([])`, `{"path":"a"}`, "true"},
		{`args.path in meta.saved`, `{"path":"b"}`, "false"},
		{`tool == "delete"`, ``, "true"},
		{`marking.idle == 2 && marking["odd place"] == 0`, ``, "true"},
		{`args.path`, `{"path":"x"}`, "yields a text, not true or false"},
		{`size(args.a) > 0`, `{"a":"` + strings.Repeat("x", maxArgs) + `"}`, "too large for an expression"},
		{`1 / (marking.idle - 2) == 1`, ``, "division by zero"},
	}
	names := &Names{Places: []string{"idle", "odd place"}, Remembered: []string{"saved"}}
	for _, test := range tests {
		c, err := NewCompiler().Condition(test.expr, names)
		if err != nil {
			t.Errorf("%s: %v", test.expr, err)
			continue
		}
		holds, err := c.Holds(NewInput(firing(test.args, gate.Meta{"saved": []any{"a"}})))
		got := fmt.Sprint(holds)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, test.want) || err != nil && holds {
			t.Errorf("%s over %.80s: %s, want %s", test.expr, test.args, got, test.want)
		}
	}
}

func TestValue(t *testing.T) {
	tests := []struct {
		expr string
		want any
	}{
		{`meta.?saved.orValue([]) + [args.path]`, []any{"a", "b"}},
		{`meta.?other.orValue([]) + [args.path]`, []any{"b"}},
		{`meta.?n.orValue(0) + 1`, int64(1)},
		{`{"a": 1, "b": [true, null, 1.5, 18446744073709551615u]}`, map[string]any{"a": int64(1), "b": []any{true, nil, 1.5, uint64(1<<64 - 1)}}},
		{`args`, map[string]any{"path": "b"}},
		{`meta.?other`, "the value may be absent: end with .orValue(...)"},
		{`{1: 2}`, "the keys of a map must be strings"},
		{`b"x"`, "a net cannot remember a value of type bytes"},
		{`1.0 / 0.0`, "the value is not a finite number"},
		{`args.size`, "no such key: size"},
		{`[0,1,2,3,4,5,6,7,8,9].map(a, [0,1,2,3,4,5,6,7,8,9].map(b, [0,1,2,3,4,5,6,7,8,9].map(c, [a, b, c, a, b, c, a, b, c, a])))`, errTooLarge.Error()},
	}
	for _, test := range tests {
		v, err := NewCompiler().Value(test.expr, nil)
		if err != nil {
			t.Errorf("%s: %v", test.expr, err)
			continue
		}
		got, err := v.Of(NewInput(firing(`{"path":"b"}`, gate.Meta{"saved": []any{"a"}})))
		if err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s:\n%s", test.expr, diff)
		}
	}
}

// TestValueIsBounded doubles a remembered value until it is rejected.
func TestValueIsBounded(t *testing.T) {
	for _, expr := range []string{`meta.s + meta.s`, `meta.s + "x"`, `[meta.s, meta.s]`} {
		v, err := NewCompiler().Value(expr, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = v.Of(NewInput(firing("", gate.Meta{"s": strings.Repeat("x", maxDataBytes)})))
		if err == nil || err.Error() != errTooLarge.Error() {
			t.Errorf("%s: %v", expr, err)
		}
	}
}

func TestTemplate(t *testing.T) {
	tests := []struct{ src, args, want string }{
		{`writes only to /workspace, got {args.path}`, `{"path":"/etc"}`, "writes only to /workspace, got /etc"},
		{`{args.path}`, `{}`, "?"},
		{`{args.path}`, `{"path":["a",1]}`, `["a",1]`},
		{`{{{tool}}}: {meta.saved[0] + "!"}`, ``, "{delete}: a!"},
		{`{args.path}`, `{"path":"a\nb\u001b[0m"}`, `a\u{a}b\u{1b}[0m`},
		{`{args.path}`, `{"path":"` + strings.Repeat("é", 300) + `"}`, strings.Repeat("é", maxShown/2) + "..."},
		{`plain`, ``, "plain"},
		{``, ``, ""},
	}
	for _, test := range tests {
		tmpl, err := NewCompiler().Template(test.src, nil)
		if err != nil {
			t.Errorf("%s: %v", test.src, err)
			continue
		}
		if got := tmpl.Text(NewInput(firing(test.args, gate.Meta{"saved": []any{"a"}}))); got != test.want {
			t.Errorf("%s: %q, want %q", test.src, got, test.want)
		}
	}
}

func ExampleCompiler() {
	c := NewCompiler()
	inside, err := c.Condition(`within(args.path, "/workspace")`, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	sentence, err := c.Template("writes are restricted to /workspace, got {args.path}", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	in := NewInput(gate.Firing{Call: gate.Call{Args: []byte(`{"path":"/workspace/../etc/passwd"}`)}})
	ok, err := inside.Holds(in)
	fmt.Println(ok, err, sentence.Text(in))
	// Output: false <nil> writes are restricted to /workspace, got /workspace/../etc/passwd
}
