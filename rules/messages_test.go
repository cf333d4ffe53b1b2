package rules_test

import (
	"testing"

	"github.com/petrigate/petrigate/internal/messagetest"
)

// TestEveryMessage finds messages, and what refusals say, that nothing shows.
func TestEveryMessage(t *testing.T) {
	messagetest.Check(t, messagetest.Wanted(t, "testdata/errors/*.txtar")+messagetest.Tables(t, "*_test.go"), map[string]string{
		"error parsing regexp: ": "what the standard library says",
	}, "*.go")
}
