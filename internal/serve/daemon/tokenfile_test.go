package daemon

import (
	"testing"

	"github.com/petrigate/petrigate/config"
)

// TestTokenFileWithVariableIsNotChecked: in a configuration that is read as text no variable is looked up, so the
// file of a path with a variable is not known, and check does not judge it.
func TestTokenFileWithVariableIsNotChecked(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]int{"${NOWHERE}/token": 0, dir + "/token": 1} {
		c := &config.Config{TextOnly: true, Listen: config.Listen{Auth: "token", TokenFile: path}}
		if got := TokenProblems(c); len(got) != want {
			t.Errorf("%s: %v, want %d", path, got, want)
		}
	}
}
