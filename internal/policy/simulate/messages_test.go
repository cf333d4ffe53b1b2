package simulate

import (
	"testing"

	"github.com/petrigate/petrigate/internal/messagetest"
)

// TestEveryError checks errors that no command script covers.
func TestEveryError(t *testing.T) {
	shown := messagetest.Text(t, "../../../cmd/petrigate/testdata/script/*.txtar") + messagetest.Text(t, "../../../cmd/petrigate/testdata/*.txt")
	messagetest.CheckCalls(t, []string{"errors.New", "fmt.Errorf"}, shown, nil, "*.go")
}
