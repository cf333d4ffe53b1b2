package policy

import (
	"testing"

	"github.com/petrigate/petrigate/internal/messagetest"
)

// TestEveryError checks errors that neither an archive nor a refusal covers.
func TestEveryError(t *testing.T) {
	shown := messagetest.Wanted(t, "testdata/problems/*.txtar")
	for _, o := range objections {
		shown += o.want + "\n"
	}
	messagetest.CheckCalls(t, []string{"errors.New", "fmt.Errorf", ".atName", ".inNet", ".add", ".evidence", "problem", "objectionf"}, shown, nil, "*.go")
}
