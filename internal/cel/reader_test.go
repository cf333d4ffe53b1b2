package cel

import (
	"fmt"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
)

var _ gate.Reader = (*Reader)(nil)

func TestReader(t *testing.T) {
	tests := []struct {
		expr, args string
		want       gate.Found
	}{
		{`args.amount > 50000`, `{"amount":50001}`, gate.Surely},
		{`args.amount > 50000`, `{"amount":50000}`, gate.NotFound},
		{`args.amount > 50000`, `{"amount":50000.5}`, gate.Surely},
		{`args.amount > 50000`, `{"amount":9223372036854775808}`, gate.Surely}, // 2^63, which is a uint
		{`args.amount > 50000`, `{"amount":18446744073709551615}`, gate.Surely},
		{`args.amount > 50000`, `{"amount":18446744073709551616}`, gate.Perhaps},
		{`args.amount < 50000`, `{"amount":-9223372036854775808}`, gate.Surely},
		{`args.amount < 50000`, `{"amount":-9223372036854775809}`, gate.Perhaps},
		{`args.amount > 50000`, `{"amount":1E400}`, gate.Perhaps},
		{`args.amount == 0.0`, `{"amount":1e-400}`, gate.Perhaps},
		{`args.amount == 0`, `{"amount":-0.0e7}`, gate.Surely},
		{`args.amount == 9007199254740993`, `{"amount":9007199254740992}`, gate.NotFound},
		{`args.amount == 1`, `{"amount":1.0}`, gate.Surely},
		{`args.amount > 50000`, `{"amount":"60000"}`, gate.Perhaps}, // an unexpected type
		{`args.amount > 50000`, `{}`, gate.Perhaps},                 // a missing field
		{`args.amount > 50000`, ``, gate.Perhaps},
		{`has(args.amount) && args.amount > 50000`, `{}`, gate.NotFound},
		{`args.?amount.orValue(0) > 50000`, `{}`, gate.NotFound},
		{`args.dry`, `{"dry":true}`, gate.Surely},
		{`args.dry`, `{"dry":"yes"}`, gate.Perhaps},
		{`args.dry == null`, `{"dry":null}`, gate.Surely},
		{`args["odd key"].exists(x, x.id == "\u00e9")`, `{"odd key":[{"id":"a"},{"id":"\u00e9"}]}`, gate.Surely},
		{`args.a.b[1]`, `{ "a" : { "b" : [ false , true ] } }`, gate.Surely},
		{`args.a.matches("^(a+)+$")`, `{"a":"` + strings.Repeat("a", 5000) + `b"}`, gate.NotFound},
		{`args.a.matches("^[a-z]{3}$") && matches(args.a, "b")`, `{"a":"abc"}`, gate.Surely},
		{`args.a.matches("x")`, `{"a":7}`, gate.Perhaps},
		{`args.a.matches("([a-z][0-9]?){1,60}")`, `{"a":"` + strings.Repeat("a", maxArgs-100) + `"}`, gate.Perhaps},
		{`args.a.replace(args.b, args.c) == ""`, `{"a":"` + strings.Repeat("a", 1000) + `","b":"","c":"` + strings.Repeat("a", 10000) + `"}`, gate.Perhaps},
		{`args.a.replace("a", "b").upperAscii() == "BNBNB\u00e9"`, `{"a":"anana\u00e9"}`, gate.Surely},
		{`args.a.trim().split(",") == ["a", "b"]`, `{"a":" a,b\n"}`, gate.Surely},
		{`args.a.split("").size() == 1`, `{"a":"` + strings.Repeat("a", maxValues+1) + `"}`, gate.Perhaps},
		{`args.a.join("-") == "a-b"`, `{"a":["a","b"]}`, gate.Surely},
		{`args.a.join("-") == "a-1"`, `{"a":["a",1]}`, gate.Perhaps},
		{`args.a.join(args.b) == ""`, `{"a":[` + strings.Repeat(`"",`, 1000) + `""],"b":"` + strings.Repeat("a", 10000) + `"}`, gate.Perhaps},
		{`args.l.all(x, !(-1 in args.l))`, `{"l":[` + strings.Repeat("1,", 5000) + `1]}`, gate.Perhaps},
		{`args.l.all(x, args.s + args.s != "")`, `{"l":[` + strings.Repeat("1,", 5000) + `1],"s":"` + strings.Repeat("a", 10000) + `"}`, gate.Perhaps},
		{`args.l.all(x, args.l.all(y, args.l.all(z, x + y + z >= 0)))`, `{"l":[` + strings.Repeat("1,", 2000) + `1]}`, gate.Perhaps}, // too much work
		{`size(args.a) > 1`, `{"a":"` + strings.Repeat("x", maxArgs) + `"}`, gate.Perhaps},
		{`size(args.a) > 1`, `{"a":[` + strings.Repeat("1,", maxValues) + `1]}`, gate.Perhaps},
		{`within(args.path, "/w")`, `{"path":"/w/a","content":"` + strings.Repeat("x", 10*maxArgs) + `"}`, gate.Surely}, // no expression reads the other arguments
		{`within(args["path"], "/w") && args.?path.hasValue()`, `{"path":"/w/a","n":1E400}`, gate.Surely},
		{`size(args) == 2 && args.path != ""`, `{"path":"/w/a","n":1}`, gate.Surely},
		{`size(args) == 2 && args.path != ""`, `{"path":"/w/a","n":1E400}`, gate.Perhaps},
		{`args.l.all(args, args > 0)`, `{"l":[1,2]}`, gate.Surely},
		{`args == {"a": 1}`, `{"a":1}`, gate.Surely},
		{`args.exists(k, k == "a")`, `{"b":1}`, gate.NotFound},
		{`has(args.a.b) || args.c`, `{"a":{"b":1E400},"c":true}`, gate.Perhaps},
		{`args.amount > 50000`, `{"amount":1,"Amount":60000}`, gate.Perhaps},
		{`args.amount > 50000`, `{"AMOUNT":60000}`, gate.Perhaps},
		{`has(args.task) && args.task == "x"`, `{"ta\u017fK":"x"}`, gate.Perhaps},
		{`args.amount > 50000`, `{"amount":60000,"opts":{"Amount":1},"Name":"x"}`, gate.Surely}, // only the first argument is read
		{`has(args.file.name) && args.file.name == "x"`, `{"file":{"Name":"x"}}`, gate.Perhaps},
		{`args.files.exists(f, f.path == "x")`, `{"files":[{"path":"y"},{"path":"y","PATH":"x"}]}`, gate.Perhaps},
		{`"force" in args`, `{"Force":true}`, gate.Perhaps},
		{`args.exists(k, k == "force")`, `{"Force":true}`, gate.Perhaps},
		{`args.opts == {"mode": "x"}`, `{"opts":{"Mode":"x"}}`, gate.Perhaps},
		{`args[args.which] == "x"`, `{"which":"a","a":"x","WHICH":"b"}`, gate.Perhaps},
		{`args[tool + ""] == "x" || args["a" + "b"] == "x"`, `{"gh_charge":"x","A":1}`, gate.Perhaps},
		{`args.?force.orValue(false)`, `{"Force":true}`, gate.Perhaps},
		{`args[?"force"].orValue(false)`, `{"Force":true}`, gate.Perhaps},
		{`annotations.?readOnlyHint.orValue(true)`, `{"ReadOnlyHint":false}`, gate.Surely}, // no argument is read
		{`args.a == 1 || args.A == 1`, `{"a":1}`, gate.Perhaps},
		{`args.mode == "FAST"`, `{"mode":"FAST","fast":1}`, gate.Surely},
		{`args.list == []`, `{"list":[1,]}`, gate.Perhaps},
		{`tool == "gh_charge" && upstream == "gh"`, `{}`, gate.Surely},
		{`annotations.?destructiveHint.orValue(true)`, `{}`, gate.Surely},
		{`within(args.path, "/workspace")`, `{"path":"/workspace/../etc/passwd"}`, gate.NotFound},
		{`within(args.path, "/home/u/.ssh")`, `{"path":"~/.ssh/x"}`, gate.Perhaps},
		{`!within(args.path, "/home/u/.ssh")`, `{"path":"../.ssh/x"}`, gate.Perhaps},
		{`!within(args.path, "/workspace")`, `{"path":"src/a.go"}`, gate.Perhaps},
		{`!within(args.path, "/workspace")`, `{"path":"/etc/hosts"}`, gate.Surely},
		{`clean(args.path) == "/etc/passwd"`, `{"path":"/workspace/..//etc/./passwd"}`, gate.Surely},
		{`args.email.lowerAscii().endsWith("@example.com")`, `{"email":"A@EXAMPLE.com"}`, gate.Surely},
	}
	for _, test := range tests {
		r := NewReader()
		pattern, err := r.Expr(test.expr)
		if err != nil {
			t.Errorf("%s: %v", test.expr, err)
			continue
		}
		reading := r.Read(&gate.Call{Tool: "gh_charge", Upstream: "gh", Args: []byte(test.args)}, "")
		if got := reading.Finds(pattern); got != test.want {
			t.Errorf("%s over %.80s: %v, want %v", test.expr, test.args, got, test.want)
		}
		if surely := test.want == gate.Surely; reading.Only([]int{pattern}) != surely || reading.Evidence(pattern) != surely {
			t.Errorf("%s: only %v, evidence %v", test.expr, reading.Only([]int{pattern}), reading.Evidence(pattern))
		}
		if why := reading.Doubt(pattern); (why.What != "") != (test.want == gate.Perhaps) {
			t.Errorf("%s: %q", test.expr, why)
		}
	}
}

func TestReaderNumbers(t *testing.T) {
	r := NewReader()
	a, _ := r.Expr(`tool == "a"`)
	b, _ := r.Expr(`tool == "b"`)
	again, _ := r.Expr(`tool == "a"`)
	if a == b || a != again {
		t.Errorf("patterns %d %d %d", a, b, again)
	}
	if _, err := r.Expr("tool"); err == nil {
		t.Error("a text is no condition")
	}
	reading := r.Read(&gate.Call{Tool: "b"}, "")
	if reading.Finds(a) != gate.NotFound || reading.Finds(b) != gate.Surely {
		t.Error("the patterns are mixed up")
	}
}

// TestReaderInGate shows how the gate treats the three possible answers.
func TestReaderInGate(t *testing.T) {
	r := NewReader()
	big, err := r.Expr("args.amount > 50000")
	if err != nil {
		t.Fatal(err)
	}
	p, err := gate.NewPolicy([]gate.Net{{
		Name: "n", Places: []string{"p"},
		Maps:        []gate.Map{{Tool: "charge", Reader: r, Pattern: big, As: "big", Source: "when"}},
		Transitions: []gate.Transition{{Name: "t", Inputs: []string{"p"}, Tools: gate.Tools("big")}},
	}}, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := gate.NewSession(p, gate.SessionOptions{})
	for args, blocked := range map[string]bool{`{"amount":1}`: false, `{"amount":50001}`: true, `{}`: true, `{"amount":"1"}`: true} {
		_, refused := s.Decide(gate.Call{Tool: "charge", Args: []byte(args)}, nil).(*gate.Refusal)
		if refused != blocked {
			t.Errorf("%s: refused %v", args, refused)
		}
	}
}

func ExampleReader() {
	r := NewReader()
	big, err := r.Expr("args.amount > 50000")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, args := range []string{`{"amount":60000}`, `{"amount":10}`, `{"amount":"60000"}`} {
		found := r.Read(&gate.Call{Tool: "charge", Args: []byte(args)}, "").Finds(big)
		fmt.Println(args, found == gate.Surely, found == gate.Perhaps)
	}
	_, err = r.Expr("arg.amount > 50000")
	fmt.Println(err)
	// Output:
	// {"amount":60000} true false
	// {"amount":10} false false
	// {"amount":"60000"} false true
	// 1:1: undeclared reference to 'arg' (did you mean 'args'?)
}
