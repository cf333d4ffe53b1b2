package verify_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/rules"
)

// BenchmarkRemedy measures the additional cost of a remedy, both for the first refusal, which
// prepares the finder, and for later ones.
func BenchmarkRemedy(b *testing.B) {
	var chain strings.Builder
	for i := range 30 {
		fmt.Fprintf(&chain, "require t%d before t%d\nlimit t%d to 3 per session\n", i, i+1, i)
	}
	for _, c := range []struct{ name, rules, after, tool string }{
		{"one", "require backup before delete", "", "delete"},
		{"chain", chain.String(), "", "t30"},
		{"spent", "limit push to 1 per session\n" + chain.String(), "push", "push"},
	} {
		f, _ := rules.Parse("policy.rules", []byte(c.rules))
		compiled, err := rules.Compile(f)
		if err != nil {
			b.Fatal(err)
		}
		p, err := gate.NewPolicy(compiled.Nets, gate.PolicyOptions{})
		if err != nil {
			b.Fatal(err)
		}
		s, call, r := refusal(b, p, c.after, c.tool)
		b.Run(c.name+"/first", func(b *testing.B) {
			for b.Loop() {
				verify.NewRemedyFinder(p, verify.Options{}).Remedy(s, call, r)
			}
		})
		finder := verify.NewRemedyFinder(p, verify.Options{})
		b.Run(c.name+"/again", func(b *testing.B) {
			for b.Loop() {
				if found := finder.Remedy(s, call, r); !found.Found && !found.None {
					b.Fatal(found.Why)
				}
			}
		})
	}
}
