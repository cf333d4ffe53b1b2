package main

import (
	"testing"

	"github.com/petrigate/petrigate/internal/messagetest"
)

// TestEveryProblem finds problems of files for TLS that no script shows.
func TestEveryProblem(t *testing.T) {
	shown := messagetest.Text(t, "testdata/script/*.txtar")
	messagetest.Check(t, shown, map[string]string{
		"x509: ":               "what the standard library says",
		"is not valid before ": "its date is another each time",
	}, "tlsfiles.go")
}
