package netfile

import (
	"testing"

	"github.com/petrigate/petrigate/internal/messagetest"
)

// TestEveryError finds errors that no table of the tests shows.
func TestEveryError(t *testing.T) {
	functions := []string{"errors.New", "fmt.Errorf", ".fail", ".place", ".count"}
	messagetest.CheckCalls(t, functions, messagetest.Tables(t, "*_test.go"), nil, "*.go")
}
