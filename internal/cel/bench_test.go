package cel

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
)

// BenchmarkFirst measures compiling the first expression in a process.
func BenchmarkFirst(b *testing.B) {
	for b.Loop() {
		if _, err := NewReader().Expr("args.amount > 50000"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkExpr measures compiling each further expression.
func BenchmarkExpr(b *testing.B) {
	r := NewReader()
	for b.Loop() {
		clear(r.numbers)
		if _, err := r.Expr("args.amount > 50000"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	r := NewReader()
	n, err := r.Expr("args.amount > 50000")
	if err != nil {
		b.Fatal(err)
	}
	c := &gate.Call{Tool: "charge", Args: []byte(`{"amount":60000,"currency":"EUR","note":"for the books"}`)}
	b.ReportAllocs()
	for b.Loop() {
		if r.Read(c, "").Finds(n) != gate.Surely {
			b.Fatal("not found")
		}
	}
}

// BenchmarkWorst measures the most expensive evaluation, which runs until it reaches the cost
// limit.
func BenchmarkWorst(b *testing.B) {
	list := []byte(`{"l":[` + strings.Repeat("1,", maxValues-10) + `1]}`)
	text := []byte(`{"s":"` + strings.Repeat("a", maxArgs-10) + `"}`)
	for _, w := range []struct {
		name, expr string
		args       []byte
	}{
		{"all", "args.l.all(x, args.l.all(y, x + y > 0))", list},
		{"map", "size(args.l.map(x, args.l.map(y, [x, y]))) == 1", list},
		{"in", "args.l.all(x, !(2 in args.l))", list},
		{"concat", `args.s + args.s + args.s == "x"`, text},
		{"regex", `args.s.matches("(a|aa)+b")`, text},
		{"contains", `args.s.contains("aaaaaaaaaaab")`, text},
		{"split", `args.s.split("").all(x, args.s.contains(x))`, text},
		{"replace", `args.s.replace("a", "aaaaaaaaaa").replace("a", "aaaaaaaaa") == "x"`, text},
		{"within", `within(args.s, args.s)`, text},
		{"lower", `args.s.lowerAscii().upperAscii().lowerAscii() == ""`, text},
		{"join", `args.s.split("a").join("b") == ""`, text},
		{"bigregex", `args.s.matches("^([a-z]?[0-9]?){20}$")`, text},
		{"size", `args.l.all(x, size(args.s) > 1)`, []byte(`{"l":[` + strings.Repeat("1,", 9000) + `1],"s":"` + strings.Repeat("é", 400_000) + `"}`)},
		{"equal", `args.l == args.l && args.l == args.l`, list},
	} {
		b.Run(w.name, func(b *testing.B) {
			r := NewReader()
			n, err := r.Expr(w.expr)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				r.Read(&gate.Call{Args: w.args}, "").Finds(n)
			}
		})
	}
}
