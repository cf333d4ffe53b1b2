package policy

import (
	"testing"

	"github.com/petrigate/petrigate/internal/messagetest"
)

// TestEveryMessage finds messages that neither an archive nor a refusal shows.
func TestEveryMessage(t *testing.T) {
	const source, identity = "how a map is written", "is never shown"
	shown := messagetest.Wanted(t, "testdata/problems/*.txtar")
	for _, o := range objections {
		shown += o.want + "\n"
	}
	messagetest.Check(t, shown, map[string]string{
		"runs ":            source,
		"validate %q %q\n": identity,
	}, "build.go", "claim.go", "hooks.go", "nets.go", "problem.go", "tools.go")
	messagetest.Check(t, messagetest.Tables(t, "*_test.go"), map[string]string{
		`approve is true, false or "wait", not %s`: "TestEvalLines: quotes are escaped there",
	}, "case.go", "compare.go", "eval.go")
}
