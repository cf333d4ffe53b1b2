package permission

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/clientcfg"
	"github.com/petrigate/petrigate/internal/policy"
)

var update = flag.Bool("update", false, "write what the goldens should say")

// TestLists reads each agent's lists from the files in an archive, and compares the resulting rules
// with the last file. The rules must form a policy.
func TestLists(t *testing.T) {
	for _, agent := range Agents() {
		t.Run(agent, func(t *testing.T) {
			path := filepath.Join("testdata", agent+".txtar")
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			last := len(archive.Files) - 1
			for _, f := range archive.Files[:last] {
				name := filepath.Join(dir, filepath.FromSlash(f.Name))
				if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, f.Data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s := clientcfg.System{OS: "linux", Home: filepath.Join(dir, "home"), Env: func(string) (string, bool) { return "", false }}
			lines := Lists(agent, s, filepath.Join(dir, "project"))
			rules, left := Rules(agent, agent, lines)
			got := strings.ReplaceAll(rules, dir, "DIR")
			if *update {
				archive.Files[last].Data = []byte(got)
				if err := os.WriteFile(path, txtar.Format(archive), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(archive.Files[last].Data), got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if _, err := policy.Build(policy.Source{Rules: []config.RuleText{{File: "a.rules", Text: rules}}}); err != nil {
				t.Error(err)
			}
			if len(left) == 0 || strings.Count(rules, "\n# ") < len(left) {
				t.Errorf("%d of %d lines are named as not taken", len(left), len(lines))
			}
		})
	}
	if Lists("goose", clientcfg.System{}, "") != nil {
		t.Error("lists of an agent that has none")
	}
}
