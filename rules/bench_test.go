package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/rules"
)

// policyOf returns n maps for a single field, which look in turn for a word, a regex and a command,
// and n rules about their names.
func policyOf(n int) []byte {
	var b strings.Builder
	for i := range n {
		switch i % 3 {
		case 0:
			fmt.Fprintf(&b, "map bash.command word%d as label%d\n", i, i)
		case 1:
			fmt.Fprintf(&b, "map bash.command /\\bgit\\s+push%d\\b/ as label%d\n", i, i)
		default:
			fmt.Fprintf(&b, "map bash.command runs git push%d as label%d\n", i, i)
		}
		switch i % 5 {
		case 0:
			fmt.Fprintf(&b, "block label%d\n", i)
		case 1:
			fmt.Fprintf(&b, "limit label%d to 3 per test%d\n", i, i)
		case 2:
			fmt.Fprintf(&b, "require test%d before label%d unless other%d\n", i, i, i)
		case 3:
			fmt.Fprintf(&b, "require label%d before deploy%d\n", i, i)
		default:
			fmt.Fprintf(&b, "limit label%d to 3 per minute\n", i)
		}
	}
	return []byte(b.String())
}

// crowded returns n maps that give the same name, and n rules about it and about patterns.
func crowded(n int) []byte {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "map bash.command runs git c%d as one\n", i)
		switch i % 4 {
		case 0:
			fmt.Fprintf(&b, "limit bash to %d per one%d\n", i+1, i)
		case 1:
			fmt.Fprintf(&b, "require one before deploy%d\n", i)
		case 2:
			fmt.Fprintf(&b, "block fs%d_*\n", i)
		default:
			fmt.Fprintf(&b, "limit tool%d to 3 per one\n", i)
		}
	}
	return []byte(b.String())
}

// examples returns n maps for a single field, each with an example.
func examples(n int) []byte {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "map bash.command runs git c%d as label%d\nblock label%d\nexample bash.command \"git c%d\" as label%d\n", i, i, i, i, i)
	}
	return []byte(b.String())
}

// BenchmarkLoad parses and compiles rules, and creates the gate's policy.
func BenchmarkLoad(b *testing.B) {
	for _, bench := range []struct {
		name string
		src  []byte
	}{
		{"56", policyOf(56)}, {"1000", policyOf(1000)}, {"10000", policyOf(10_000)},
		{"crowded1000", crowded(1000)}, {"crowded10000", crowded(10_000)},
		{"examples1000", examples(1000)}, {"examples10000", examples(10_000)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			for b.Loop() {
				f, _ := rules.Parse("bench.rules", bench.src)
				c, err := rules.Compile(f)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := gate.NewPolicy(c.Nets, gate.PolicyOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
