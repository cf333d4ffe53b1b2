package examples

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/config"
)

// cookbook sets the variables that the cookbook's configurations require, and returns its folders.
func cookbook(t *testing.T) (folders []string) {
	t.Helper()
	for _, name := range []string{"WORKSPACE", "GITHUB_TOKEN", "SLACK_BOT_TOKEN", "SLACK_TEAM_ID", "DATABASE_URI"} {
		t.Setenv(name, "x")
	}
	files, err := filepath.Glob("cookbook/*/petrigate.yaml")
	if err != nil || len(files) != 12 {
		t.Fatalf("%d policies: %v", len(files), err)
	}
	for _, f := range files {
		folders = append(folders, filepath.Dir(f))
	}
	return folders
}

// TestCookbook checks each policy in the cookbook: it loads without a warning, it passes its own
// tests, all of its claims are proved, and the page about the cookbook shows it.
func TestCookbook(t *testing.T) {
	exe := program(t)
	page := read(t, "../docs/cookbook.md")
	for _, folder := range cookbook(t) {
		name := filepath.Base(folder)
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(page, "(../examples/cookbook/"+name+"/"+name+".rules)") {
				t.Error("docs/cookbook.md does not name it")
			}
			c, err := config.Load(config.Options{Path: filepath.Join(folder, "petrigate.yaml")})
			if err != nil {
				t.Fatal(config.Text(err))
			}
			build(t, c)
			if out, err := exec.Command(exe, "test", folder).CombinedOutput(); err != nil {
				t.Errorf("petrigate test: %v\n%s", err, out)
			}
			claims(t, exe, filepath.Join(folder, "petrigate.yaml"))
		})
	}
}

// claims checks that all claims of a configuration can be proved. Whether its servers can be
// started does not matter.
func claims(t *testing.T, exe, file string) {
	t.Helper()
	out, err := exec.Command(exe, "check", "--json", file).Output()
	if err != nil {
		t.Errorf("petrigate check: %v\n%s", err, out)
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
			t.Errorf("%s: %s", p.Code, p.Message)
		}
	}
	if len(report.Proofs) == 0 {
		t.Error("there are no claims")
	}
	for _, p := range report.Proofs {
		if p.Result != "proved" {
			t.Errorf("%s is %s", p.Text, p.Result)
		}
	}
}
