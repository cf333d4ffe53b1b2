package check

import (
	"context"
	"testing"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy"
)

// twenty is a realistic policy without a claim.
const twenty = `require backup before delete
require lint before test
require test before build
require build before deploy
require human-approval before deploy
limit push to 3 per session
limit push to 1 per test
block rm
block github_delete_*
map bash.command rm as rm
map bash.command /git\s+push/ as push
require review before merge
require merge before release
limit send to 10 per session
require human-approval before send
require login before send
limit charge to 5 per session
require human-approval before charge
require quote before charge
limit refund to 1 per charge
require human-approval before refund
limit search to 1000000 per session
`

// BenchmarkStart measures the verification when a proxy starts.
func BenchmarkStart(b *testing.B) {
	source := policy.Source{Rules: []config.RuleText{{File: "b.rules", Text: twenty}}}
	for b.Loop() {
		result, err := policy.Build(source)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := Run(context.Background(), result, source, ToolSet{}, AtStart(len(result.Claims))); err != nil {
			b.Fatal(err)
		}
	}
}
