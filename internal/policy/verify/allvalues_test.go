package verify_test

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// TestClaimAboutAllValues checks that a claim without a key covers the calls of all values
// together: its counterexample has calls with several values, and the gate admits them.
func TestClaimAboutAllValues(t *testing.T) {
	tool := func(name string) gate.Tool { return gate.Tool{Name: name} }
	before := verify.NeverBefore{Tool: tool("delete"), First: tool("backup")}
	once := before
	once.Once = true
	atMost := func(n int) verify.AtMost { return verify.AtMost{Count: n, Tools: gate.Tools("post")} }
	for _, c := range []struct {
		rules   string
		claim   verify.Assertion
		want    verify.Result
		values  int
		forEach string
	}{
		{"limit post to 3 per session for each channel", atMost(3), verify.Refuted, 2, "for each channel"},
		{"limit post to 3 per session for each channel", atMost(10), verify.Refuted, 4, "for each channel"},
		{"limit post to 3 per session for each channel\nlimit post to 5 per session", atMost(5), verify.Proved, 0, ""},
		{"limit post to 3 per session for each channel\nlimit post to 5 per session", atMost(4), verify.Refuted, 2, "for each channel"},
		{"require login before post with same channel", atMost(2), verify.Refuted, 1, ""},
		{"require login before post with same channel\nlimit login to 1 per session for each channel", atMost(2), verify.Refuted, 3, "for each channel"},
		{"require login before post once with same user as $.on.user\nlimit post to 1 per session for each $.on.user", atMost(1), verify.Refuted, 2, "for each $.on.user"},
		{"limit deploy to 1 at once for each env", verify.NeverWhile{Tool: tool("deploy"), Other: tool("deploy")}, verify.Refuted, 2, ""},
		{"limit deploy to 1 at once for each env\nlimit deploy to 1 at once", verify.NeverWhile{Tool: tool("deploy"), Other: tool("deploy")}, verify.Proved, 0, ""},
		{"require backup before delete with same path", before, verify.Refuted, 2, "with same path"},
		{"require backup before delete with same file as path", before, verify.Refuted, 2, "with same file as path"},
		{"require backup before delete with same path", once, verify.Proved, 0, ""},
		{"require backup before delete with same path\nlimit delete to 1 per session", before, verify.Proved, 0, ""},
		{"require fetch before send with same to\nlimit fetch to 1 per session for each to", verify.NeverAfter{Tool: tool("fetch"), After: tool("send")}, verify.Refuted, 2, ""},
		{"require human-approval before send\nlimit send to 1 per session for each to", verify.NeverAfter{Tool: tool("send"), After: tool("fetch"), Unapproved: &verify.Approval{}}, verify.Proved, 0, ""},
	} {
		r := report(t, c.rules, func(o *verify.Options) { o.Known, o.Prove = true, []verify.Assertion{c.claim} })
		p := r.Proofs[0]
		if p.Result != c.want || p.ForEach != c.forEach {
			t.Errorf("%s\n%+v: %v, %q, %s", c.rules, c.claim, p.Result, p.ForEach, p.Why)
		}
		of := make(map[string]bool)
		for _, s := range p.Counterexample {
			if !s.Ends {
				of[strings.Trim(s.Args[strings.LastIndexByte(s.Args, ':')+1:], "}")] = true
			}
		}
		if p.Result == verify.Refuted && len(of) != c.values {
			t.Errorf("%s\n%+v: calls of %d values: %+v", c.rules, c.claim, len(of), p.Counterexample)
		}
		policy, ok := policyOf(c.rules)
		if !ok {
			t.Fatal(c.rules)
		}
		if pl := replay(policy, p.Counterexample); pl.refused >= 0 {
			t.Errorf("%s\n%+v: step %d is refused: %+v", c.rules, c.claim, pl.refused, p.Counterexample)
		}
	}
}
