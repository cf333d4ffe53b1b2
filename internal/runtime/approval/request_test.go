package approval

import "testing"

// TestSubject checks that a tool belongs to an upstream or to the agent itself.
func TestSubject(t *testing.T) {
	for want, c := range map[string]Call{
		"deploy on upstream ci":              {Tool: "deploy", Upstream: "ci"},
		"Bash of claude-code":                {Tool: "Bash", Upstream: "claude-code", Own: true},
		`a\u{202e}b on upstream claude-code`: {Tool: "a\u202eb", Upstream: "claude-code"},
	} {
		if got := c.Subject(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
