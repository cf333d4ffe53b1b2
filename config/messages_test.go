package config

import (
	"testing"

	"github.com/petrigate/petrigate/internal/messagetest"
)

// TestEveryError finds errors and warnings that no archive covers.
func TestEveryError(t *testing.T) {
	const never = "nothing is known that leads to it"
	shown := messagetest.Wanted(t, "testdata/*.txtar") + messagetest.Wanted(t, "testdata/document/*.txtar")
	messagetest.CheckCalls(t, []string{"errors.New", "fmt.Errorf", ".faultAt", ".faultAtPosition", ".warn", ".add", ".refuse", ".needs", ".is", ".token", ".Fault"}, shown, map[string]string{
		"this kind of value is not supported": never,
		"the file is not valid YAML":          never,

		"the pattern matches more than %d names": "TestGlobMatchesLikeFilepath shows it with a small limit",
	}, "*.go")
}
