package config

import (
	"fmt"
	"slices"
	"strings"
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

// TestDSNIsSecret checks that no part of a connection string is printed and that all of it counts
// as secret.
func TestDSNIsSecret(t *testing.T) {
	for _, dsn := range []string{"postgres://gate:hunter2x@db/x", "host=db password='hunter2x' user=gate"} {
		c := &Config{State: State{Driver: "postgres", DSN: dsn}}
		if got := fmt.Sprintf("%v %+v %#v", c.State, c.State, c.State); strings.Contains(got, "hunter2x") {
			t.Error(got)
		}
		if s := c.Secrets(); !slices.Contains(s, "hunter2x") || s[0] != dsn {
			t.Errorf("%q", s)
		}
	}
}
