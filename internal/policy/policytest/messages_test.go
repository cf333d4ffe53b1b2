package policytest

import (
	"testing"

	"github.com/petrigate/petrigate/internal/messagetest"
)

// TestEveryMessage finds messages that no table of the tests shows.
func TestEveryMessage(t *testing.T) {
	messagetest.Check(t, messagetest.Tables(t, "*_test.go"), map[string]string{
		`approve is true, false or "wait", not %s`: "TestEvalLines: quotes are escaped there",
		" %q=%q":                 "is never shown",
		"error parsing regexp: ": "what the standard library says",
	}, "case*.go", "compare.go", "eval*.go", "events.go", "file.go", "parse.go", "paths.go", "play.go", "source.go", "step.go")
}
