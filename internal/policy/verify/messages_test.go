package verify

import (
	"testing"

	"github.com/petrigate/petrigate/internal/messagetest"
)

// TestEveryMessage finds reasons that no test compares.
func TestEveryMessage(t *testing.T) {
	messagetest.Check(t, messagetest.Tables(t, "*_test.go"), map[string]string{
		"ax0 -_": "characters that are tried",
		"a plan does not hold in the nets that it was made of": "nothing is known that leads to it",
	}, "*.go", "internal/*/*.go")
}
