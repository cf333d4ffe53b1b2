package policy

import (
	"testing"

	"github.com/petrigate/petrigate/internal/messagetest"
)

// TestEveryMessage finds messages that neither an archive nor a refusal shows.
func TestEveryMessage(t *testing.T) {
	const identity = "is never shown"
	shown := messagetest.Wanted(t, "testdata/problems/*.txtar")
	for _, o := range objections {
		shown += o.want + "\n"
	}
	messagetest.Check(t, shown, map[string]string{
		"validate %q %q\n": identity,
	}, "build.go", "claim.go", "fields.go", "hooks.go", "nets.go", "offline.go", "problem.go", "tools.go")
}
