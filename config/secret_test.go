package config

import (
	"slices"
	"testing"
)

func TestSecrets(t *testing.T) {
	vars := map[string]string{"GH": "ghp_value", "HOME": "/home/me", "USER": "somebody", "DIR": "/srv/data", "AB": "ab", "WORD": "default word"}
	c := parse(t, `
mcpServers:
  a:
    command: sh
    args: ["${GH}", "${HOME}/x", "${USER}", "${DIR}", "${AB}", "${NONE:-fallback}"]
    env: { API_KEY: literal-key, NAME: literal-name, SHORT_KEY: abc }
  b:
    url: https://example.com/mcp
    headers: { Authorization: "Bearer header-secret" }
`, Options{Env: from(vars)})
	want := []string{"Bearer header-secret", "header-secret", "literal-key", "ghp_value"}
	if got := c.Secrets(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
