package verify_test

import (
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/verify"
)

// TestEntangledFields checks that no call is given for names that it has only
// together with others.
func TestEntangledFields(t *testing.T) {
	for _, test := range []struct {
		other string
		want  verify.Result
	}{
		{"$.r.j", verify.Refuted},
		{"s", verify.Refuted},
		{"$.s[*].k", verify.Refuted},
		{"$.r[*].k", verify.Unknown},
		{"$.r", verify.Unknown},
		{"$.r.k.l", verify.Unknown},
		{`$["r"][0]`, verify.Unknown},
		{"r", verify.Unknown},
	} {
		r := report(t, "map a.$.r.k x as m\nmap a."+test.other+" x as n\nblock n\n", func(o *verify.Options) {
			o.Prove = []verify.Assertion{verify.Never{Tool: gate.Tool{Name: "m"}}}
		})
		if got := r.Proofs[0].Result; got != test.want {
			t.Errorf("%s: %v, want %v", test.other, got, test.want)
		}
	}
}
