package rules_test

import (
	"testing"

	"github.com/petrigate/petrigate/internal/messagetest"
)

// TestEveryError finds errors and warnings that no test covers.
func TestEveryError(t *testing.T) {
	functions := []string{"errors.New", "fmt.Errorf", ".fail", ".name", ".failName", ".warnName", ".warnField", ".warnPattern", ".checkEvidence"}
	messagetest.CheckCalls(t, functions, messagetest.Wanted(t, "testdata/errors/*.txtar")+messagetest.Tables(t, "*_test.go"), map[string]string{
		"error parsing regexp: ": "what the standard library says",
	}, "*.go")
}
