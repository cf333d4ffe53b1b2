package daemon

import (
	"testing"

	"github.com/petrigate/petrigate/config"
)

// TestTokenFileWithVariableIsNotChecked checks that in a configuration read as text no variable is
// resolved, so that a token file with a variable in its path is not checked.
func TestTokenFileWithVariableIsNotChecked(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]int{"${NOWHERE}/token": 0, dir + "/token": 1} {
		c := &config.Config{TextOnly: true, Listen: config.Listen{Auth: "token", TokenFile: path}}
		if got := TokenProblems(c); len(got) != want {
			t.Errorf("%s: %v, want %d", path, got, want)
		}
	}
}
