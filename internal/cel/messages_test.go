package cel

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/messagetest"
)

var update = flag.Bool("update", false, "write what the goldens should say")

var ones = "[" + strings.Repeat("1,", 150) + "1]"

// mistaken lists conditions that do not compile.
var mistaken = []string{
	`arg.amount > 5`,
	`env.HOME == "x"`,
	"args.a == 1 &&\n  nope > 1 && nope2",
	`tool = "x"`,
	`tool == = "x" = "y"`,
	`true and false`,
	`true or false`,
	`not true`,
	`tool ==`,
	``,
	`tool == "x`,
	`tool.matches('\s')`,
	`tool == 1`,
	`tool.startWith("x")`,
	`size(tool).foo()`,
	`tool.len() > 1 && tool . count () > 1`,
	`tool.startsWith(1)`,
	`tool.name == "x"`,
	`within(args.path, '~/.ssh') || !within(args.path, '/srv')`,
	`tool`,
	`args`,
	`[args]`,
	`size(args)`,
	`tool.matches("(")`,
	`tool.matches(args.p)`,
	`tool.matches("` + strings.Repeat("(a{100}){10}", 100) + `")`,
	`marking.idel == 1 && marking["half"] == 1 && marking.?odne.hasValue()`,
	`has(meta.zzz) && meta.save == 1`,
	strings.Repeat("(", 400) + "true" + strings.Repeat(")", 400),
	`[1].all(a, [1].all(b, [1].all(c, [1].all(d, true))))`,
	`"` + strings.Repeat("x", maxSource) + `" == tool`,
	ones + `.all(a, ` + ones + `.all(b, ` + ones + `.all(c, a + b + c > 0)))`,
}

// failing lists conditions whose evaluation fails for some arguments.
var failing = []struct{ src, args string }{
	{`args.path == "x"`, `{}`},
	{`args.path == "x"`, `[]`},
	{`size(args) > 0`, `[]`},
	{`args.a.matches("` + strings.Repeat("a", 900) + `")`, `{"a":"` + strings.Repeat("a", 100_000) + `"}`},
	{`args.path == "x"`, `{"path":`},
	{`args.path.startsWith("x")`, `{"path":7}`},
	{`args.path.matches("x")`, `{"path":7}`},
	{`args.path`, `{"path":"x"}`},
	{`args.path == "x"`, `{"path":"x","Path":"y"}`},
	{`args.n == 1`, `{"n":99999999999999999999}`},
	{`args.n == 1`, `{"n":1e999}`},
	{`args.n == 1`, `{"n":1e-999}`},
	{`1 / args.n == 1`, `{"n":0}`},
	{`size(args.a) > 0`, `{"a":"` + strings.Repeat("x", maxArgs) + `"}`},
	{`size(args.a) > 0`, `{"a":[` + strings.Repeat("1,", maxValues) + `1]}`},
	{`args.a.all(x, args.a.all(y, x + y > 0))`, `{"a":[` + strings.Repeat("1,", 10_000) + `1]}`},
	{`args.a.join(",") == ""`, `{"a":[1]}`},
	{`within(args.path, "/home/u/.ssh")`, `{"path":"~/.ssh/x"}`},
}

// unkept lists values that cannot be remembered.
var unkept = []struct{ src, args string }{
	{`args.?a`, `{}`},
	{`0.0 / 0.0`, `{}`},
	{`{1: 2}`, `{}`},
	{`type(1)`, `{}`},
	{`args.a + args.a + args.a`, `{"a":"` + strings.Repeat("x", maxDataBytes/2) + `"}`},
	{`args.a.split("")`, `{"a":"` + strings.Repeat("x", 500_000) + `"}`},
	{`args.a.replace("x", args.a)`, `{"a":"` + strings.Repeat("x", 50_000) + `"}`},
	{`args.a.join(args.s)`, `{"a":[` + strings.Repeat(`"x",`, 1_000) + `"x"],"s":"` + strings.Repeat("x", 100_000) + `"}`},
}

// TestMessages compares all messages about expressions with the expected text.
func TestMessages(t *testing.T) {
	const path = "testdata/messages.txt"
	var b strings.Builder
	say := func(src, args string, err error) {
		fmt.Fprintf(&b, "%.90s", src)
		if args != "" {
			fmt.Fprintf(&b, " <- %.50s", args)
		}
		fmt.Fprintf(&b, "\n%v\n\n", err)
	}
	names := &Names{Places: []string{"idle", "done"}, Remembered: []string{"saved"}}
	for _, src := range mistaken {
		_, err := NewCompiler().Condition(src, names)
		say(src, "", err)
	}
	for _, src := range []string{"{'a': 1}", "[[args.a]]"} {
		_, err := NewReader().ValueExpr(src)
		say(src, "", err)
	}
	_, err := NewResults().Condition("args.a == 1")
	say("args.a == 1", "", err)
	for _, src := range []string{"got {args.path", "got }", "got {arg.path} {nope}", "got {}"} {
		_, err := NewCompiler().Template(src, nil)
		say(src, "", err)
	}
	for _, test := range failing {
		c, err := NewCompiler().Condition(test.src, names)
		if err == nil {
			_, err = c.Holds(NewInput(firing(test.args, gate.Meta{})))
		}
		say(test.src, test.args, err)
	}
	for _, test := range unkept {
		v, err := NewCompiler().Value(test.src, names)
		if err == nil {
			_, err = v.Of(NewInput(firing(test.args, gate.Meta{})))
		}
		say(test.src, test.args, err)
	}
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(messagetest.Text(t, path), b.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestEveryError finds error messages that TestMessages does not cover.
func TestEveryError(t *testing.T) {
	const never = "nothing is known that leads to it"
	messagetest.CheckCalls(t, []string{"errors.New", "fmt.Errorf", "failure", "whole", "report"}, messagetest.Text(t, "testdata/messages.txt"), map[string]string{
		"preparing expressions: %v":     never,
		"evaluating the expression: %v": never,
		"join expects a list of texts":  never,
	}, "*.go")
}
