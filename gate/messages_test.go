package gate_test

import (
	"testing"

	"github.com/petrigate/petrigate/internal/messagetest"
)

// TestEveryError finds errors that no table of the tests shows.
func TestEveryError(t *testing.T) {
	messagetest.CheckCalls(t, []string{"errors.New", "fmt.Errorf", ".report"}, messagetest.Tables(t, "*_test.go"), nil, "*.go")
}
