package main

import (
	"testing"

	"github.com/petrigate/petrigate/internal/messagetest"
)

// TestEveryError finds errors and warnings that no test and no script covers.
func TestEveryError(t *testing.T) {
	shown := messagetest.Text(t, "testdata/script/*.txtar") + messagetest.Text(t, "testdata/*.txt") + messagetest.Tables(t, "*_test.go")
	messagetest.CheckCalls(t, []string{"errors.New", "fmt.Errorf", ".Warn", ".Error"}, shown, map[string]string{
		"the request could not be written to the database, and no proxy received it": "the database goes away between its opening and the order",
	}, "*.go")
}
