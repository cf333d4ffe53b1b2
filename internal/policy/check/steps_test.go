package check_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
)

func looked(t *testing.T, text string) check.Report {
	t.Helper()
	source := policy.Source{Rules: []config.RuleText{{File: "a.rules", Text: text}}}
	r, _, err := check.Look(t.Context(), source, nil, check.ToolSet{}, check.Effort{Time: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSteps checks that a counterexample is described call by call, with the verdicts and markings
// of all affected nets.
func TestSteps(t *testing.T) {
	r := looked(t, "limit deploy to 2 per hour\nrequire human-approval before push\nblock rm\nprove at-most 1 deploy per hour\nprove never push after deploy\nprove never rm\n")
	var told []string
	for _, c := range r.Claims() {
		told = append(told, c.Result+": "+c.Broken)
	}
	want := "refuted: and a limit of 1 per hour would refuse the last deploy; refuted: the last push after deploy; proved: "
	if got := strings.Join(told, "; "); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	for claim, want := range []string{
		`"" ; limit-deploy-2-per-hour  ready: 1, budget: 2 false
"deploy is called" allow; limit-deploy-2-per-hour lets it pass by do-deploy ready: 1, budget: 1, spent: 1 true
"deploy is called" allow; limit-deploy-2-per-hour lets it pass by do-deploy ready: 1, spent: 2 true
`,
		`"" ; limit-deploy-2-per-hour  ready: 1, budget: 2 false; approve-before-push  ready: 1 false
"deploy is called" allow; limit-deploy-2-per-hour lets it pass by do-deploy ready: 1, budget: 1, spent: 1 true; approve-before-push  ready: 1 false
"push is called" allow; limit-deploy-2-per-hour  ready: 1, budget: 1, spent: 1 false; approve-before-push asks a person, who approves by approve ready: 1 false
`, "", "",
	} {
		steps, more := r.Steps(claim)
		var b strings.Builder
		for _, s := range steps {
			fmt.Fprintf(&b, "%q %s", s.Text, s.Verdict)
			for _, n := range s.Nets {
				fmt.Fprintf(&b, "; %s %s %s %v", n.Net, n.Says, n.Marking, n.Moved)
			}
			b.WriteString("\n")
		}
		if b.String() != want || more != 0 {
			t.Errorf("claim %d: %d more, got\n%s\nwant\n%s", claim, more, &b, want)
		}
	}
}

// TestStepsAreBounded checks that only the first steps of a long run are described, and that the
// total number of steps is reported.
func TestStepsAreBounded(t *testing.T) {
	r := looked(t, "require human-approval before push\nprove at-most 300 deploy per session\nprove never push after deploy\n")
	steps, more := r.Steps(0)
	if len(steps) < 2 || len(steps) > 201 || len(steps)+more < 2 {
		t.Errorf("%d steps, %d more", len(steps), more)
	}
	for _, claim := range []int{-1, 2, 1000} {
		if steps, _ := r.Steps(claim); steps != nil {
			t.Errorf("claim %d: %v", claim, steps)
		}
	}
	none := check.NewReport(nil, &policy.Result{}, check.ToolSet{}, nil)
	if steps, _ := none.Steps(0); steps != nil || none.Claims() != nil || none.ToolRows() != nil || none.Notes() != nil {
		t.Error("of nothing")
	}
}
