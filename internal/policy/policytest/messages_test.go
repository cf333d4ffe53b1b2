package policytest

import (
	"testing"

	"github.com/petrigate/petrigate/internal/messagetest"
)

// TestEveryError checks errors that none of the tests' tables covers.
func TestEveryError(t *testing.T) {
	messagetest.CheckCalls(t, []string{"errors.New", "fmt.Errorf", ".Fault"}, messagetest.Tables(t, "*_test.go"), map[string]string{
		"error parsing regexp: ": "what the standard library says",
	}, "*.go")
}
