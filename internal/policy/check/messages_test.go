package check

import (
	"testing"

	"github.com/petrigate/petrigate/internal/messagetest"
)

// TestEveryProblem checks problems and errors that no command script covers.
func TestEveryProblem(t *testing.T) {
	shown := messagetest.Text(t, "../../../cmd/petrigate/testdata/script/*.txtar") + messagetest.Text(t, "../../../cmd/petrigate/testdata/*.txt")
	messagetest.CheckCalls(t, []string{"at", "cited", "errors.New", "fmt.Errorf"}, shown, nil, "*.go")
}
