package statecode_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/store/statecode"
)

// twenty is a policy of twenty rules.
func twenty(tb testing.TB) *gate.Policy {
	tb.Helper()
	var text []string
	for i := range 10 {
		text = append(text, fmt.Sprintf("limit t%d to 100 per session", i), fmt.Sprintf("require t%d before u%d", i, i))
	}
	p, err := ruled(strings.Join(text, "\n"))
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// used returns a session that has moved some of the twenty rules.
func used(tb testing.TB, p *gate.Policy, tools int) *gate.State {
	tb.Helper()
	s := p.NewState(nil)
	for i := range tools {
		for range 2 {
			d, delta := p.Decide(s, gate.Call{Tool: fmt.Sprint("t", i), Time: noon}, nil)
			a, ok := d.(*gate.Allow)
			if !ok {
				tb.Fatal(d)
			}
			s.Apply(delta)
			s.Apply(p.Settle(s, a.Ticket.Number, gate.Success))
		}
	}
	return s
}

// TestUnmovedSessionIsSmall: the part of a session without moves is tiny.
func TestUnmovedSessionIsSmall(t *testing.T) {
	p := twenty(t)
	for _, c := range []struct{ tools, most int }{{0, 200}, {1, 450}, {3, 1024}} {
		data, err := statecode.New(p, nil).AppendSession(nil, used(t, p, c.tools), statecode.Info{Principal: "ann", Since: noon, Owner: 1 << 60, Writer: strings.Repeat("w", 16)}, statecode.Processes{})
		if err != nil || len(data) > c.most {
			t.Errorf("%d of 20 rules have moved: %d bytes, want at most %d, %v\n%s", c.tools*2, len(data), c.most, err, data)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	for _, tools := range []int{0, 3, 10} {
		b.Run(fmt.Sprintf("moved=%d", 2*tools), func(b *testing.B) {
			p := twenty(b)
			c, s := statecode.New(p, nil), used(b, p, tools)
			var dst []byte
			b.ReportAllocs()
			for b.Loop() {
				dst, _ = c.AppendSession(dst[:0], s, statecode.Info{Principal: "ann", Since: noon}, statecode.Processes{})
			}
			b.ReportMetric(float64(len(dst)), "bytes")
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, tools := range []int{0, 3, 10} {
		b.Run(fmt.Sprintf("moved=%d", 2*tools), func(b *testing.B) {
			p := twenty(b)
			c := statecode.New(p, nil)
			data, err := c.AppendSession(nil, used(b, p, tools), statecode.Info{Principal: "ann", Since: noon}, statecode.Processes{})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Session("s", data, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
