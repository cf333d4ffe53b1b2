package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestConsoleSpeed measures in a real browser how long the console takes from a click until the
// change is painted, with 10,000 rows of activity, 1,000 questions and 60 nets. It runs only if
// PETRIGATE_SPEED is set, and only prints the results, because a busy machine is slow.
func TestConsoleSpeed(t *testing.T) {
	if os.Getenv("PETRIGATE_SPEED") == "" {
		t.Skip("PETRIGATE_SPEED=1 measures the console in a browser")
	}
	binary, npm := need(t)
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no browser to measure with: chromium is missing")
	}
	rules := "require human-approval before prod.deploy\nrequire prod.backup before prod.delete\n"
	for n := range 58 {
		rules += fmt.Sprintf("limit prod.push to %d per session\n", 100+n)
	}
	settings := map[string]any{"rules": rules, "approval": map[string]any{"hold": "100ms", "expire": "1h"}}
	env := ours(t)
	e := serveIn(t, binary, env, map[string]endpoint{"prod": {Command: binary, Args: []string{"demo-upstream"}}}, settings, true)
	job, err := json.Marshal(map[string]any{
		"url": e.URL, "binary": binary, "env": env, "browser": browser, "calls": 10_000, "questions": 1000, "runs": 20,
		"net": "require-prod.backup-before-prod.delete",
	})
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "node", filepath.Join("testdata", "console-speed.mjs"))
	c.Env, c.Stdin, c.Stderr = append(os.Environ(), "E2E_PACKAGES="+npm), bytes.NewReader(job), os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var of struct {
			Name     string
			MS       []float64
			Server   []float64
			Elements int
		}
		if err := json.Unmarshal(lines.Bytes(), &of); err != nil || len(of.MS) == 0 {
			t.Fatal(lines.Text(), err)
		}
		slices.Sort(of.MS)
		line := fmt.Sprintf("%-36s median %4.0f ms, p95 %4.0f ms, %d elements", of.Name, of.MS[len(of.MS)/2], of.MS[len(of.MS)*95/100], of.Elements)
		if slices.Sort(of.Server); len(of.Server) > 0 {
			line += fmt.Sprintf(", of it the answer %4.0f ms", of.Server[len(of.Server)/2])
		}
		t.Log(line)
	}
}
