package check

import (
	"testing"

	"github.com/petrigate/petrigate/internal/messagetest"
)

// TestEveryProblem finds problems and errors that no script of the verbs shows.
func TestEveryProblem(t *testing.T) {
	shown := messagetest.Text(t, "../../../cmd/petrigate/testdata/script/*.txtar") + messagetest.Text(t, "../../../cmd/petrigate/testdata/*.txt")
	messagetest.Check(t, shown, map[string]string{
		`a command is one program; its arguments go into "args"`: "a hint beside an error that is shown",
	}, "command.go", "lint.go", "maps.go", "problems.go")
	messagetest.CheckCalls(t, []string{"errors.New", "fmt.Errorf"}, shown, nil, "*.go")
}
