package config_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/petrigate/petrigate/config"
)

// TestGrants reads the maximum lifetime of a grant. 0 selects the default, and a negative value
// disables grants.
func TestGrants(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"approval: {}": 0, "approval: { grants: true }": time.Hour, "approval: { grants: false }": -1, "approval: { grants: 90s }": 90 * time.Second, `approval: { grants: "1h" }`: time.Hour,
	} {
		path := filepath.Join(t.TempDir(), "petrigate.yaml")
		if err := os.WriteFile(path, []byte("version: 1\nmcpServers: { s: { command: server } }\n"+text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(config.Options{Path: path, Env: func(string) (string, bool) { return "", false }})
		if err != nil || c.Approval.Grants != want {
			t.Errorf("%s: %v, %v", text, c, err)
		}
	}
}
