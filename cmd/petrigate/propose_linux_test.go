package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInitAsks: at a terminal init writes after a yes that was typed after the question, and
// nothing else.
func TestInitAsks(t *testing.T) {
	for keys, want := range map[string]struct {
		written bool
		code    int
		says    string
	}{
		"y\n":   {true, exitOK, "Written: "},
		"\n":    {false, exitOK, "Nothing was written."},
		"n\n":   {false, exitOK, "Nothing was written."},
		"y\x03": {false, exitFailed, "petrigate: interrupted"},
	} {
		t.Run(keys, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			config, tools := filepath.Join(dir, "petrigate.yaml"), filepath.Join(dir, "tools.json")
			for path, text := range map[string]string{config: "version: 1\nmcpServers: { s: { command: ./s } }\n", tools: `["delete_note"]`} {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			p := startPTY(t, nil, 200, "init", "--config", config, "--tools", tools)
			p.keys("y\n") // before it is asked
			p.expect("? [y/N] ")
			p.keys(keys)
			code, out := p.end()
			_, err := os.Stat(filepath.Join(dir, "petrigate.rules"))
			if code != want.code || !strings.Contains(out, want.says) || (err == nil) != want.written {
				t.Errorf("exit code %d, %v: %s", code, err, out)
			}
		})
	}
}
