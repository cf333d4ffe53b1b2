package policydiff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// TestTimeEndsComparing checks that nothing is compared once the time is up, not even the kinds of
// calls, and that the reason names the limit to raise.
func TestTimeEndsComparing(t *testing.T) {
	var from, to strings.Builder
	for i := range 40 {
		fmt.Fprintf(&from, "map x.f /a%d/ as l%d\nrequire a before l%d\n", i, i, i)
		fmt.Fprintf(&to, "map x.f /b%d/ as l%d\nrequire b before l%d\n", i, i, i)
	}
	for _, asks := range []int{0, 1, 5, 20, 100} {
		asked := 0
		d, err := Compare(side(t, from.String()), side(t, to.String()), 20_000, func() bool { asked++; return asked > asks })
		if err != nil {
			t.Fatal(err)
		}
		if d.Complete || d.why != verify.WhyTime {
			t.Errorf("after %d questions of the time: complete %v, because %q", asks, d.Complete, d.why)
		}
		if asked > asks+1 {
			t.Errorf("after %d questions of the time it was asked %d times more", asks, asked-asks)
		}
		if text := d.Text("old", "new"); !strings.Contains(text, "the time ran out; raise --timeout to search longer\n") {
			t.Errorf("after %d questions of the time:\n%s", asks, text)
		}
		if got := d.Report(); got.Why != verify.WhyTime || got.Complete {
			t.Errorf("after %d questions of the time: %q, complete %v", asks, got.Why, got.Complete)
		}
	}
}

// side returns the side for a policy that consists of rules.
func side(t *testing.T, text string) *Side {
	t.Helper()
	source := policy.Source{Rules: []config.RuleText{{File: "policy.rules", Text: text}}}
	result, err := policy.Build(source)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSide(result, source)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
