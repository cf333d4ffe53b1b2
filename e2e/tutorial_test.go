package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/petrigate/petrigate/internal/docpage"
)

// TestTutorial goes the way of docs/tutorial.md with the servers of npm, and compares all that the page
// shows but for the questions: nobody is at a terminal. TestTutorial of cmd/petrigate answers them.
func TestTutorial(t *testing.T) {
	binary, npm := need(t)
	page, err := os.ReadFile(filepath.Join("..", "docs", "tutorial.md"))
	if err != nil {
		t.Fatal(err)
	}
	env := ours(t)
	env["HOME"], env["XDG_STATE_HOME"] = env["XDG_RUNTIME_DIR"], ""
	env["NPM_CONFIG_OFFLINE"] = "true" // the packages are there, at the versions of package-lock.json
	npx, err := exec.LookPath("npx")
	if err != nil {
		t.Fatal(err)
	}
	env["PATH"] = inFolder(t, npx, npm) + string(filepath.ListSeparator) + env["PATH"]
	w := docpage.Walk{Home: env["HOME"], Program: binary, Env: list(env), Run: func(args []string) string {
		if args[0] != "sessions" {
			args = append(args, "--yes")
		}
		c := exec.Command(binary, args...)
		c.Env = list(env)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}}
	w.Page(t, unasked(string(page)))
}

// inFolder makes a directory with an npx that looks for packages in a folder.
func inFolder(t *testing.T, npx, folder string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "npx"), []byte("#!/bin/sh\ncd \""+folder+"\" && exec \""+npx+"\" \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// question is the line of one in an output, and the empty line below it.
var question = regexp.MustCompile(`(?m)^.*\? \[y/N\] y\n\n?`)

// unasked is a page without questions.
func unasked(page string) string { return question.ReplaceAllString(page, "") }

// TestRecordedTools compares the lists of tools that the tutorial is tested with by TestTutorial of
// cmd/petrigate with those of the servers. The schemas of results are left out there.
func TestRecordedTools(t *testing.T) {
	_, npm := need(t)
	for _, name := range []string{"filesystem", "memory", "everything"} {
		args := []string{filepath.Join(npm, "node_modules", "@modelcontextprotocol", "server-"+name, "dist", "index.js")}
		if name == "filesystem" {
			args = append(args, t.TempDir())
		}
		src, err := os.ReadFile(filepath.Join("..", "cmd", "petrigate", "testdata", "tutorial", "server-"+name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var recorded struct{ Tools []map[string]any }
		if err := json.Unmarshal(src, &recorded); err != nil {
			t.Fatal(err)
		}
		listed := docpage.Tools(t, list(environment(t)), append([]string{"node"}, args...))
		for _, tool := range listed {
			delete(tool, "outputSchema")
		}
		if diff := cmp.Diff(recorded.Tools, listed); diff != "" {
			t.Errorf("%s: recorded (-) and listed (+) differ:\n%s", name, diff)
		}
	}
}
