package gate_test

import (
	"testing"

	"github.com/petrigate/petrigate/internal/messagetest"
)

// TestEveryMessage finds messages that no table of the tests shows.
func TestEveryMessage(t *testing.T) {
	messagetest.Check(t, messagetest.Tables(t, "*_test.go"), nil, "*.go")
}
