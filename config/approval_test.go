package config

import (
	"testing"
	"time"
)

// TestHoldFor checks the order of precedence: the hold time configured for the client, the hold
// time configured for all clients, and the built-in default.
func TestHoldFor(t *testing.T) {
	of := func(text string, flags map[string]string) Approval {
		t.Helper()
		c, err := Parse("petrigate.yaml", []byte(text), Options{Env: from(nil), Flags: flags})
		if err != nil {
			t.Fatal(err)
		}
		return c.Approval
	}
	const named = "approval: { holds: { claude-code: 8s, \"c*\": 1s, \"claude*\": 2s, \"*\": 3s, none: 0s } }\n"
	for _, c := range []struct {
		text   string
		flags  map[string]string
		client string
		want   time.Duration
	}{
		{"{}", nil, "", 45 * time.Second},
		{"{}", nil, "claude-code", 100 * time.Second},
		{"{}", nil, "Claude-Code", 45 * time.Second},
		{"{}", nil, "gemini-cli-mcp-client-files", 100 * time.Second},
		{"{}", nil, "gemini-cli-mcp-client*", 100 * time.Second},
		{"approval: { hold: 45s }", nil, "claude-code", 45 * time.Second},
		{"approval: { hold: 0s }", nil, "claude-code", 0},
		{"{}", map[string]string{"approval.hold": "9s"}, "claude-code", 9 * time.Second},
		{named, nil, "claude-code", 8 * time.Second},
		{named, nil, "claude-ai", 2 * time.Second},
		{named, nil, "cursor", time.Second},
		{named, nil, "gemini-cli-mcp-client", 3 * time.Second},
		{named, nil, "none", 0},
		{named, nil, "", 3 * time.Second},
	} {
		if got := of(c.text, c.flags).HoldFor(c.client); got != c.want {
			t.Errorf("%s %v: calls of %q wait %v, want %v", c.text, c.flags, c.client, got, c.want)
		}
	}
}
