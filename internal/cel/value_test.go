package cel

import (
	"fmt"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
)

var _ gate.ValueReader = (*Reader)(nil)

func TestValueOfCall(t *testing.T) {
	tests := []struct{ expr, args, want string }{
		{`args.channel.lowerAscii()`, `{"channel":"General"}`, `"general"`},
		{`args.channel`, `{"channel":"<&>\u2028"}`, `"<&>\u2028"`},
		{`args.channel`, `{"channel":7}`, `7`},
		{`args.n`, `{"n":18446744073709551615}`, `18446744073709551615`},
		{`args.n`, `{"n":1.0}`, `1`},
		{`args.n`, `{"n":0.5}`, `0.5`},
		{`args.n / 0.0`, `{"n":1.5}`, ``},
		{`args.n > 5`, `{"n":7}`, `true`},
		{`args.l`, `{"l":["a",1,true]}`, `["a",1,true]`},
		{`args.l`, `{"l":[]}`, `[]`},
		{`args.l`, `{"l":[["a"]]}`, ``},
		{`args.l`, `{"l":[null]}`, ``},
		{`args.l`, `{"l":{"a":1}}`, ``},
		{`args.l`, `{"l":null}`, ``},
		{`args.l.map(x, x.id)`, `{"l":[{"id":"a"},{"id":2}]}`, `["a",2]`},
		{`clean(args.path)`, `{"path":"/a/../b"}`, `"/b"`},
		{`args.path`, `{}`, ``},
		{`args.path`, `{"path":"a","Path":"b"}`, ``},
		{`args.path`, `{"path":"` + strings.Repeat("x", maxDataBytes) + `y"}`, ``},
		{`tool + ":" + upstream`, `{}`, `"gh_post:gh"`},
		{`[args.a, args.b]`, `{"a":1,"b":"c"}`, `[1,"c"]`},
	}
	for _, test := range tests {
		r := NewReader()
		number, err := r.ValueExpr(test.expr)
		if err != nil {
			t.Errorf("%s: %v", test.expr, err)
			continue
		}
		got, ok := r.Value(&gate.Call{Tool: "gh_post", Upstream: "gh", Args: []byte(test.args)}, number)
		if string(got) != test.want || ok != (test.want != "") {
			t.Errorf("%s over %.80s: %.80s %v, want %s", test.expr, test.args, got, ok, test.want)
		}
	}
}

func TestValueExpr(t *testing.T) {
	r := NewReader()
	condition, _ := r.Expr("args.a")
	a, _ := r.ValueExpr("args.a")
	again, _ := r.ValueExpr("args.a")
	if a == condition || a != again {
		t.Errorf("numbers %d, %d and %d", condition, a, again)
	}
	for _, src := range []string{`args`, `{"a": 1}`, `null`, `[[1]]`, `[{"a": 1}]`, `args.?a`, `args.`} {
		if _, err := r.ValueExpr(src); err == nil {
			t.Errorf("%s can be a key", src)
		}
	}
}

func ExampleReader_Value() {
	r := NewReader()
	channel, err := r.ValueExpr("args.channel.lowerAscii()")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, args := range []string{`{"channel":"General"}`, `{"to":"general"}`} {
		value, ok := r.Value(&gate.Call{Tool: "post", Args: []byte(args)}, channel)
		fmt.Printf("%s %t\n", value, ok)
	}
	// Output:
	// "general" true
	//  false
}
