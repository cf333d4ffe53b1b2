package netfile

import (
	"testing"

	"github.com/petrigate/petrigate/internal/messagetest"
)

// TestEveryError finds error messages that no test table contains.
func TestEveryError(t *testing.T) {
	functions := []string{"errors.New", "fmt.Errorf", ".fail", ".place", ".count"}
	messagetest.CheckCalls(t, functions, messagetest.Tables(t, "*_test.go"), nil, "*.go")
}
