package cel

import (
	"encoding/json"
	"math/big"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/rawjson"
)

// FuzzConvert compares converted arguments with the result of encoding/json, treating whole numbers
// as written.
func FuzzConvert(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `{"a":1,"b":[true,null,"x\u00e9"],"c":{"d":-0.5e3}}`, `{"n":9223372036854775808}`, `{"n":18446744073709551616}`,
		`{"n":-0}`, `{"n":1E400}`, `{"n":1e-400}`, `[1]`, `{"a":`, ` { "a" : [ ] } `,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		got := convert(doc)
		if rawjson.Check(doc, rawjson.MaxDepth) != nil {
			return // the gate never passes such arguments; they only must not cause a panic
		}
		if got.err != nil {
			return
		}
		d := json.NewDecoder(strings.NewReader(string(doc)))
		d.UseNumber()
		var want any
		if err := d.Decode(&want); err != nil {
			t.Fatalf("%q: %v", doc, err)
		}
		if diff := cmp.Diff(want, got.value, cmp.Comparer(sameNumber), cmp.FilterValues(mixed, cmp.Comparer(equalNumber))); diff != "" {
			t.Errorf("%q:\n%s", doc, diff)
		}
	})
}

func sameNumber(a, b json.Number) bool { return a == b }

// mixed reports whether exactly one of a and b is a json.Number.
func mixed(a, b any) bool {
	_, is := a.(json.Number)
	_, also := b.(json.Number)
	return is != also
}

// equalNumber compares numbers by value: whole numbers exactly, and other numbers as doubles.
func equalNumber(a, b any) bool {
	n, ok := a.(json.Number)
	if !ok {
		a, b = b, a
		n, _ = a.(json.Number)
	}
	switch v := b.(type) {
	case float64:
		f, err := n.Float64()
		return err == nil && f == v
	case int64:
		want, ok := new(big.Int).SetString(n.String(), 10)
		return ok && want.IsInt64() && want.Int64() == v
	case uint64:
		want, ok := new(big.Int).SetString(n.String(), 10)
		return ok && want.IsUint64() && want.Uint64() == v
	}
	return false
}

// FuzzExpr compiles arbitrary expressions and evaluates those that compile. Neither may panic,
// every problem must have a position in the source, and repeated evaluation must give the same
// result.
func FuzzExpr(f *testing.F) {
	for _, seed := range []string{
		`args.amount > 50000`, `arg.x`, `tool = "x"`, `tool ==`, `args.l.all(x, x > 1)`, `within(args.path, "/w")`, `"é" == tul`,
		`args.?a.orValue([]).exists(x, x == 1)`, "args.a\n&& nope", `{"a": [1, 2.5, null]}.a[0] == 1`, `tool.matches("(")`,
		`clean(args.path).split("/").join("-").replace("a", "bb") == tool.trim()`, `meta.x`, `"a`, "\"\n", "\"\u2028", `'\x00'`, `b"\xff"`, `1 / 0 == 1`,
	} {
		f.Add(seed, `{"amount":60000,"path":"/w/../x","l":[1,2],"a":[1]}`)
	}
	compiler := NewCompiler()
	f.Fuzz(func(t *testing.T, src, args string) {
		r := compiler.NewReader()
		n, err := r.Expr(src)
		if err != nil {
			list, ok := err.(diag.List)
			if !ok || len(list) == 0 {
				t.Fatalf("%q: %v", src, err)
			}
			for _, e := range list {
				if e.Offset < 0 || e.Offset > len(src) || e.Line < 1 || e.Column < 1 || e.Msg == "" || strings.Contains(e.Msg, "\n") {
					t.Errorf("%q: %+v", src, e)
				}
			}
			return
		}
		c := &gate.Call{Tool: "t", Args: []byte(args)}
		reading := r.Read(c, "")
		found := reading.Finds(n)
		if found != reading.Finds(n) || found != r.Read(c, "").Finds(n) || reading.Evidence(n) != (found == gate.Surely) {
			t.Errorf("%q over %q: %v, and then another", src, args, found)
		}
	})
}

// FuzzWithin compares the results of within with resolved paths, for each separator: paths inside
// the directory must stay inside, and paths outside must stay outside.
func FuzzWithin(f *testing.F) {
	for _, seed := range []string{"/workspace/a", "/workspace/../etc", `/workspace/..\..\etc`, "/workspace/.. /x", "//workspace", "", "C:/workspace/x", "/workspace/a/../../workspace/b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, p string) {
		where := within(p, "/workspace")
		if where == unknown {
			return
		}
		for _, resolved := range []string{p, strings.ReplaceAll(p, `\`, "/")} {
			clean := path.Clean(resolved)
			if in := clean == "/workspace" || strings.HasPrefix(clean, "/workspace/"); in != (where == inside) {
				t.Errorf("%q is %q", p, clean)
			}
		}
	})
}
