package daemon

import (
	"testing"

	"github.com/petrigate/petrigate/config"
)

// TestTokenFileWithVariableIsNotChecked checks that variables are not resolved in a configuration
// that was only read as text, so that a token file whose path contains a variable is not checked.
func TestTokenFileWithVariableIsNotChecked(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]int{"${NOWHERE}/token": 0, dir + "/token": 1} {
		c := &config.Config{TextOnly: true, Listen: config.Listen{Auth: "token", TokenFile: path}}
		if got := TokenProblems(c); len(got) != want {
			t.Errorf("%s: %v, want %d", path, got, want)
		}
	}
}
