package simulate

import (
	"testing"

	"github.com/petrigate/petrigate/internal/messagetest"
)

// TestEveryError finds errors that no script of the verbs shows.
func TestEveryError(t *testing.T) {
	shown := messagetest.Text(t, "../../../cmd/petrigate/testdata/script/*.txtar") + messagetest.Text(t, "../../../cmd/petrigate/testdata/*.txt")
	messagetest.CheckCalls(t, []string{"errors.New", "fmt.Errorf"}, shown, nil, "*.go")
}
