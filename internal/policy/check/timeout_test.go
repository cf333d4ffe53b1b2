package check

import (
	"testing"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// TestTimeoutByTheClock checks that the effort's clock ends the proofs regardless of the work done,
// and that nothing ends them while the clock does not advance.
func TestTimeoutByTheClock(t *testing.T) {
	source := policy.Source{Rules: []config.RuleText{{File: "t.rules", Text: "require a before b\nprove never b before a\nprove reachable b\n"}}}
	result, err := policy.Build(source)
	if err != nil {
		t.Fatal(err)
	}
	prove := func(e Effort) []claimProof {
		v, err := Run(t.Context(), result, source, ToolSet{}, e)
		if err != nil {
			t.Fatal(err)
		}
		return v.proofs
	}
	now := time.Unix(0, 0)
	late := prove(Effort{Time: 10 * time.Second, Now: func() time.Time { now = now.Add(11 * time.Second); return now }})
	for _, p := range late {
		if p.Result != verify.Unknown || p.Why != "the time ran out" {
			t.Errorf("after 11 s of 10 %s is %s, because %s", p.Text, p.Result, p.Why)
		}
	}
	for _, p := range prove(Effort{Time: 1, Now: func() time.Time { return now }}) {
		if p.Result != verify.Proved {
			t.Errorf("while the clock stands %s is %s, because %s", p.Text, p.Result, p.Why)
		}
	}
}
