package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/docpage"
)

var updateTutorial = flag.Bool("update-tutorial", false, "rewrite what docs/tutorial.md shows of outputs")

// TestTutorial follows docs/tutorial.md at a terminal and compares all output that the page shows.
// A substitute for npx starts servers with the recorded tools of the real servers. TestTutorial in
// package e2e does the same with the real servers.
func TestTutorial(t *testing.T) {
	t.Parallel()
	file := filepath.Join("..", "..", "docs", "tutorial.md")
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	home, err := os.MkdirTemp("", "home") // socket paths must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	program, err := exec.LookPath("petrigate")
	if err != nil {
		t.Fatal(err)
	}
	bin := npxOf(t, filepath.Join("testdata", "tutorial"))
	env := []string{"HOME=" + home, "PATH=" + bin + ":" + os.Getenv("PATH"), "PETRIGATE_RUNTIME_DIR=" + filepath.Join(home, "run"), "PETRIGATE_STARTUP=5m"}
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME", "PETRIGATE_CONFIG"} {
		env = append(env, name+"=")
	}
	w := docpage.Walk{
		Home: home, Program: program, Env: append(os.Environ(), env...),
		Run: func(args []string) string { return atTerminal(t, append(env, "TERM=xterm"), args) },
	}
	if got := w.Page(t, string(page)); *updateTutorial {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// npxOf creates a directory with a substitute for npx, which starts the servers whose tool lists
// are in dir.
func npxOf(t *testing.T, dir string) string {
	t.Helper()
	lists, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	script := "#!/bin/sh\nexec testserver --list \"" + lists + "/${2#@modelcontextprotocol/}.json\"\n"
	if err := os.WriteFile(filepath.Join(bin, "npx"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return bin
}

// overwritten matches text that a terminal no longer shows, which is the beginning of a line that
// was overwritten.
var overwritten = regexp.MustCompile(`(?m)^[^\n]*\r\x1b\[K`)

// atTerminal runs a command and answers yes to its question. It returns what the terminal shows in
// the end.
func atTerminal(t *testing.T, env, args []string) string {
	t.Helper()
	p := startPTY(t, env, 200, args...)
	if args[0] != "sessions" {
		p.expect("? [y/N] ")
		p.keys("y\n")
	}
	code, out := p.end()
	if code != exitOK {
		t.Errorf("%s: exit code %d", strings.Join(args, " "), code)
	}
	return overwritten.ReplaceAllString(strings.ReplaceAll(out, "\r\n", "\n"), "")
}
