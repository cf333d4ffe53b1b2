package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/rules"
)

// namesBetween joins n names.
func namesBetween(n int, prefix, separator string) string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf("%s%d", prefix, i)
	}
	return strings.Join(texts, separator)
}

// longLines are statements with lists of n names.
func longLines(n int) []string {
	or, list, tight := namesBetween(n, "ä", " or "), namesBetween(n, "a", ", "), namesBetween(n, "a", ",")
	return []string{
		"require " + or + " before z",
		"require " + list + " before z since y",
		"require z before " + list + " unless y",
		"require z before y since " + list + " with same path",
		"require human-approval before " + list + " after y until x",
		"block " + list,
		"block y after " + list + " until z",
		"block y unless " + tight,
		"allow " + list,
		"limit " + list + " to 3 per session",
		"limit y to 3 per session for each " + list,
		"prove never y before " + tight,
		"prove exclusive " + tight,
	}
}

// TestLongLines parses, compiles and prints long lists. With quadratic time, it would take many
// minutes.
func TestLongLines(t *testing.T) {
	for _, line := range longLines(10_000) {
		f, errs := rules.Parse("long.rules", []byte(line))
		if len(errs) > 0 {
			t.Fatal(errs[0].Msg, errs[0].Pos)
		}
		if _, err := rules.Compile(f); err != nil {
			t.Fatal(err)
		}
		again, errs := rules.Parse("long.rules", []byte(f.String()))
		if len(errs) > 0 || again.String() != f.String() {
			t.Fatalf("%.40s... prints another statement", line)
		}
	}
}

// TestPositionsInLongLines checks that positions count characters anywhere in a line.
func TestPositionsInLongLines(t *testing.T) {
	for n := 1; n < 700; n++ {
		line := "block " + strings.Repeat("ä€", n) + ", b, b"
		_, errs := rules.Parse("long.rules", []byte(line))
		if want := len("block , b, b") + 2*n; len(errs) != 1 || errs[0].Pos.Column != want {
			t.Fatal(n, errs, want)
		}
		if !strings.HasSuffix(errs[0].Excerpt(), " ^\n") {
			t.Fatal(errs[0].Excerpt())
		}
	}
}

// BenchmarkLongLine parses and compiles lists of names.
func BenchmarkLongLine(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		for _, separator := range []string{" or ", ", "} {
			line := []byte("require " + namesBetween(n, "a", separator) + " before z")
			b.Run(fmt.Sprintf("%d%s", n, strings.TrimSpace(separator)), func(b *testing.B) {
				for b.Loop() {
					f, _ := rules.Parse("long.rules", line)
					if _, err := rules.Compile(f); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
