package simulate

import (
	"testing"

	"github.com/petrigate/petrigate/internal/messagetest"
)

// TestEveryMessage finds messages that no script of the verbs shows.
func TestEveryMessage(t *testing.T) {
	shown := messagetest.Text(t, "../../../cmd/petrigate/testdata/script/*.txtar") + messagetest.Text(t, "../../../cmd/petrigate/testdata/*.txt")
	messagetest.CheckCalls(t, []string{"errors.New", "fmt.Errorf"}, shown, nil, "*.go")
	messagetest.Check(t, shown, map[string]string{
		"has ended": "the end of a message that is shown",
		"the test differs from the session in step %d: expected %s, got %s\n": "nothing is known that leads to it",
	}, "moves.go", "record.go")
}
