package verify_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/verify"
)

func BenchmarkPolicy(b *testing.B) {
	for _, c := range []struct{ name, rules string }{
		{"million", "limit push to 1000000 per session\n"},
		{"thirteen", thirteen()},
		{"sixty", sixty()},
		{"star", star(20)},
	} {
		b.Run(c.name, func(b *testing.B) {
			p, o := build(b, map[string]string{"policy.rules": c.rules})
			b.ReportAllocs()
			var r *verify.Report
			for b.Loop() {
				r = verify.Policy(p, o)
			}
			b.ReportMetric(float64(r.Visited), "states")
		})
	}
}

func thirteen() string {
	var s strings.Builder
	for i := range 13 {
		fmt.Fprintf(&s, "require a%d before b%d\n", i, i)
	}
	return s.String()
}

// star is many prerequisites of one tool.
func star(n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, "require a%d before deploy\n", i)
	}
	return s.String()
}

// sixty is a policy of sixty rules, most of which hang together.
func sixty() string {
	var s strings.Builder
	s.WriteString("map bash.command rm as delete\nmap bash.command cp as backup\nmap bash.command /git push/ as push\nmap bash.command /curl|wget/ as fetch\n")
	s.WriteString("require backup before delete\nrequire human-approval before delete\nlimit delete to 5 per session\nlimit bash to 200 per session\n")
	s.WriteString("require test before push\nlimit push to 3 per test\nrequire human-approval before deploy\nrequire push before deploy\nlimit deploy to 2 per session\n")
	s.WriteString("require lint before deploy\nrequire build before deploy\nrequire lint before build\nblock *.destroy\nlimit * to 1000 per session\n")
	for i := range 16 {
		fmt.Fprintf(&s, "require read%d before write%d\nlimit write%d to %d per session\n", i, i, i, 10+i)
	}
	for i := range 10 {
		fmt.Fprintf(&s, "block danger%d\n", i)
	}
	return s.String()
}
