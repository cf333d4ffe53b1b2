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

// TestTutorial follows docs/tutorial.md with the real servers from npm, and compares everything
// that the page shows except the questions, because it runs without a terminal. TestTutorial in
// cmd/petrigate answers the questions.
func TestTutorial(t *testing.T) {
	binary, npm := need(t)
	page, err := os.ReadFile(filepath.Join("..", "docs", "tutorial.md"))
	if err != nil {
		t.Fatal(err)
	}
	env := ours(t)
	env["HOME"], env["XDG_STATE_HOME"] = env["XDG_RUNTIME_DIR"], ""
	env["NPM_CONFIG_OFFLINE"] = "true" // the packages are installed in the versions that package-lock.json specifies
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

// inFolder creates a directory with an npx that looks for packages in the given directory.
func inFolder(t *testing.T, npx, folder string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "npx"), []byte("#!/bin/sh\ncd \""+folder+"\" && exec \""+npx+"\" \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// question matches the line of a question in the output, and the empty line below it.
var question = regexp.MustCompile(`(?m)^.*\? \[y/N\] y\n\n?`)

// unasked returns a page without its questions.
func unasked(page string) string { return question.ReplaceAllString(page, "") }

// TestRecordedTools compares the recorded tool lists, which TestTutorial in cmd/petrigate uses,
// with those of the real servers. The recorded lists do not contain output schemas.
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
