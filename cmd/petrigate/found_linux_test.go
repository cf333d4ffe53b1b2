package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTrustAsksOncePerContent checks that a command that acts on a configuration found in the
// working directory asks once at a terminal, and again after the file has changed. If the answer is
// no, it starts nothing.
func TestTrustAsksOncePerContent(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	t.Chdir(dir)
	marker := filepath.Join(t.TempDir(), "started")
	put(t, "petrigate.yaml", "version: 1\nmcpServers: { s: { command: touch, args: ['"+marker+"'], env: { A: \"${FOUND_SECRET}\" } } }\n")
	env := []string{"XDG_STATE_HOME=" + state, "FOUND_SECRET=abcdefgh"}
	check := func(answer string, asked, started bool) {
		t.Helper()
		_ = os.Remove(marker)
		p := startPTY(t, env, 200, "check", "--live")
		if asked {
			p.expect("until it changes?")
			p.expect("[y/N] ")
			p.keys(answer + "\n")
		}
		_, out := p.end()
		if strings.Contains(out, "Trust it") != asked || asked && !strings.Contains(out, "It starts: touch "+marker) || asked && !strings.Contains(out, "It reads: ${FOUND_SECRET}") {
			t.Errorf("asked %v, want %v: %s", !asked, asked, out)
		}
		if _, err := os.Stat(marker); (err == nil) != started {
			t.Errorf("started: %v, want %v: %s", err == nil, started, out)
		}
	}
	check("n", true, false)
	check("y", true, true)
	check("", false, true)
	put(t, "petrigate.yaml", "version: 1\nmcpServers: { s: { command: touch, args: ['"+marker+"'], env: { A: \"${FOUND_SECRET}\" } } } # changed\n")
	check("n", true, false)
}
