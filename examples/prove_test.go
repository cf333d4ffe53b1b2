package examples

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/petrigate/petrigate/internal/docpage"
)

// TestClaims checks that all claims in the examples and on the pages can be proved, and that
// nothing else in them is doubtful except commands that are not installed.
func TestClaims(t *testing.T) {
	exe := program(t)
	for _, name := range []string{"WORKSPACE", "DEPLOY_TOKEN", "DISCORD_TOKEN"} {
		value, _ := environment(name)
		t.Setenv(name, value)
	}
	configs, _ := filepath.Glob("*/petrigate.yaml")
	claims := 0
	for _, file := range configs {
		claims += proved(t, exe, "--config", file)
	}
	for _, b := range docpage.All(t, "..") {
		if b.Kind != "rules" || ownTest[b.Page] != "" || b.SeenIn != "" || b.NotRun != "" {
			continue
		}
		file := filepath.Join(t.TempDir(), "page.rules")
		if err := os.WriteFile(file, []byte(b.Text), 0o600); err != nil {
			t.Fatal(err)
		}
		claims += proved(t, exe, file)
	}
	if claims < 10 {
		t.Errorf("there are %d claims", claims)
	}
}

// proved runs petrigate check and returns the number of proved claims.
func proved(t *testing.T, exe string, args ...string) int {
	t.Helper()
	out, err := exec.Command(exe, append([]string{"check", "--json"}, args...)...).Output()
	if err != nil {
		t.Errorf("check %v: %v\n%s", args, err, out)
	}
	var report struct {
		Problems []struct{ Severity, Code, Message string }
		Proofs   []struct{ Text, Result string }
	}
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatal(err)
	}
	for _, p := range report.Problems {
		if p.Code != "W204" && p.Severity != "note" {
			t.Errorf("%v: %s", args, p.Message)
		}
	}
	for _, p := range report.Proofs {
		if p.Result != "proved" {
			t.Errorf("%v: %s is %s", args, p.Text, p.Result)
		}
	}
	return len(report.Proofs)
}
