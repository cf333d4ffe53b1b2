package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// views lists the console's pages.
var views = []string{"/inbox", "/activity", "/tools", "/health", "/policy", "/nets", "/sessions"}

// TestConsole drives the console in a real browser. If PETRIGATE_SHOTS names a directory, it writes
// a screenshot of each page there.
func TestConsole(t *testing.T) {
	binary, npm := need(t)
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no browser to test with: chromium is missing")
	}
	upstreams := map[string]endpoint{"prod": {Command: binary, Args: []string{"demo-upstream"}}}
	settings := map[string]any{
		"rules":    "require human-approval before prod.deploy\nrequire prod.backup before prod.delete\nlimit prod.push to 3 per session\n",
		"approval": map[string]any{"hold": "30s", "expire": "30s"},
	}
	env := ours(t)
	e := serveIn(t, binary, env, upstreams, settings, true)
	job := map[string]any{"url": e.URL, "binary": binary, "env": env, "browser": browser, "views": views}
	if dir := os.Getenv("PETRIGATE_SHOTS"); dir != "" {
		job["shots"] = dir
	}
	for name, problem := range browse(t, npm, job) {
		t.Run(name, func(t *testing.T) {
			if problem != "" {
				t.Error(problem)
			}
		})
	}
}

// browse runs a job in the browser. It returns what the browser has tried and what went wrong.
func browse(t *testing.T, npm string, job map[string]any) map[string]string {
	t.Helper()
	in, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("testdata/console.mjs")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*patience)
	defer cancel()
	c := exec.CommandContext(ctx, "node", script)
	c.Env = append(os.Environ(), "E2E_PACKAGES="+npm)
	c.Stdin = bytes.NewReader(in)
	c.WaitDelay = patience
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Errorf("the browser: %v\n%s", err, stderr.Bytes())
	}
	tried := map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var line struct{ Name, Error string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		tried[line.Name] = line.Error
	}
	if len(tried) < 12+2*len(views) {
		t.Errorf("only %d things were tried", len(tried))
	}
	return tried
}
