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

// TestChannelSecrets checks that a channel's secret counts as secret even if it looks like a path,
// and that its URL counts as secret only if it has a path.
func TestChannelSecrets(t *testing.T) {
	vars := map[string]string{"HOOK": "/base64/begins/with/a/slash"}
	for url, want := range map[string][]string{
		"https://hooks.example.com":       {vars["HOOK"]},
		"https://hooks.example.com/T0/B1": {"https://hooks.example.com/T0/B1", vars["HOOK"]},
	} {
		c := parse(t, `
approval:
  channels: [webhook]
  webhook: { url: "`+url+`", secret: "${HOOK}", listen: "127.0.0.1:7781" }
`, Options{Env: from(vars)})
		if got := c.Secrets(); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		if !slices.Equal(c.Targets, []string{url}) {
			t.Errorf("%q", c.Targets)
		}
	}
}

// TestUnknownTarget checks that a channel whose URL is a reference that is not resolved is still
// listed among the systems that are sent approval requests.
func TestUnknownTarget(t *testing.T) {
	for _, url := range []string{"${HOOK}", "${file:hook}", "${HOOK:-https://hooks.example.com/T0}"} {
		c := parse(t, `
approval:
  channels: [webhook]
  webhook: { url: "`+url+`", secret: "${SECRET}", listen: "127.0.0.1:7781" }
`, Options{Found: true})
		if !slices.Equal(c.Targets, []string{"a webhook"}) {
			t.Errorf("%q of %s", c.Targets, url)
		}
	}
}
