package verify_test

import (
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// TestEntangledFields checks that no call is used as a witness for names that it only has together
// with others.
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
		{"$.R.j", verify.Unknown},
		{"$.r.K", verify.Unknown},
		{"$.r.KK", verify.Refuted},
		{"R", verify.Unknown},
	} {
		r := report(t, "map a.$.r.k x as m\nmap a."+test.other+" x as n\nblock n\n", func(o *verify.Options) {
			o.Prove = []verify.Assertion{verify.Never{Tool: gate.Tool{Name: "m"}}}
		})
		if got := r.Proofs[0].Result; got != test.want {
			t.Errorf("%s: %v, want %v", test.other, got, test.want)
		}
	}
}

// TestFieldsInOtherCase checks that a call that contains a field in two spellings is not used as a
// witness for a name that only one of the spellings would certainly give.
func TestFieldsInOtherCase(t *testing.T) {
	const rules = "map a.key x as m\nmap a.Key y as n\nrequire m before c\nrequire n before c\nlimit a to 1 per session\n"
	r := report(t, rules, func(o *verify.Options) { o.Prove = []verify.Assertion{verify.Never{Tool: gate.Tool{Name: "c"}}} })
	if got := r.Proofs[0].Result; got == verify.Refuted {
		t.Errorf("one call is said to be both: %+v", r.Proofs[0])
	}
}
