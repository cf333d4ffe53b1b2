package gate_test

import (
	"testing"

	"github.com/petrigate/petrigate/internal/messagetest"
)

// TestEveryError provokes errors that no other table test produces.
func TestEveryError(t *testing.T) {
	messagetest.CheckCalls(t, []string{"errors.New", "fmt.Errorf", ".report"}, messagetest.Tables(t, "*_test.go"), nil, "*.go")
}
