package verify_test

import (
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// TestClaimAboutPartOfKey checks a claim about each value of one field when keys in rules also read
// other fields of the calls. A different value in another field does not exempt a call, and a
// counterexample violates the claim with the arguments that it shows.
func TestClaimAboutPartOfKey(t *testing.T) {
	field := func(path string) gate.Field { return gate.Field{Path: path} }
	before := verify.NeverBefore{Tool: gate.Tool{Name: "pay"}, First: gate.Tool{Name: "check"}}
	once := before
	once.Once = true
	for _, c := range []struct {
		rules string
		of    verify.Assertion
		field string
		want  verify.Result
	}{
		{"require check before pay with same to as from\nlimit pay to 1 per session", before, "to", verify.Unknown},
		{"require check before pay with same to as from\nlimit pay to 1 per session", once, "to", verify.Unknown},
		{"require check before pay with same to as from\nlimit pay to 1 per session", verify.Never{Tool: gate.Tool{Name: "pay"}}, "to", verify.Refuted},
		{"require check before pay with same to, from", before, "to", verify.Refuted},
		{"require check before pay with same to, from", once, "to", verify.Proved},
		{"require check before pay with same to, from", once, "from", verify.Proved},
		{"require check or log before pay\nrequire check before pay since log with same to, from\nrequire log before log with same from as to, to as from", before, "to", verify.Unknown},
	} {
		f := field(c.field)
		r := report(t, c.rules, func(o *verify.Options) {
			o.Known, o.Prove = true, []verify.Assertion{verify.ForEach{Of: c.of, Key: []verify.Compared{{Field: f, Other: f}}}}
		})
		if p := r.Proofs[0]; p.Result != c.want {
			t.Errorf("%s\n%+v for each %s: %v %s, want %v\n%+v", c.rules, c.of, c.field, p.Result, p.Why, c.want, p.Counterexample)
		}
	}
}
