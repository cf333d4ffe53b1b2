package main

import (
	"bytes"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/text"
)

func TestActorIsAUser(t *testing.T) {
	me, err := user.Current()
	if err != nil {
		t.Skip(err)
	}
	tests := []struct{ sudo, user, logname, want string }{
		{"ann", "root", "root", "ann"}, {"", "bob", "x", "bob"}, {"", "", "carl", "carl"},
		{"", "", "", me.Username}, // for example, in a hook or a service
	}
	for _, tt := range tests {
		t.Setenv("SUDO_USER", tt.sudo)
		t.Setenv("USER", tt.user)
		t.Setenv("LOGNAME", tt.logname)
		t.Setenv("USERNAME", "")
		if got := actor(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// TestLogFormatFollowsOutput checks that the log is text if the configuration asks for it, and that
// by default it is JSON if the output is not a terminal.
func TestLogFormatFollowsOutput(t *testing.T) {
	for format, want := range map[string]string{"text": "WRN odd n=1\n", "json": `"msg":"odd","n":1}`, "auto": `"msg":"odd","n":1}`} {
		var b bytes.Buffer
		log := slog.New(logHandler(&b, config.Log{Format: format}, slog.LevelWarn))
		log.Info("usual")
		log.Warn("odd", "n", 1)
		if got := b.String(); !strings.Contains(got, want) || strings.Contains(got, "usual") || strings.Contains(got, "\x1b") {
			t.Errorf("%s: %q, want %q in it", format, got, want)
		}
	}
}

// TestExcerptsShowNoSecrets checks the source lines of problems. A problem in YAML or JSON has no
// source line, because the line may contain a server's secret.
func TestExcerptsShowNoSecrets(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tests := []struct {
		name string
		p    diag.Problem
		want string
	}{
		{"rules", diag.Problem{File: write("a.rules", "block rm\r\nlimit ü to 3 per session\n"), Line: 2, Column: 9}, "    limit ü to 3 per session\n            ^"},
		{"its own", diag.Problem{File: write("b.rules", "block rm"), Line: 1, Column: 1, Excerpt: "own"}, "own"},
		{"a configuration", diag.Problem{File: write("c.yaml", "token: secret"), Line: 1, Column: 1}, ""},
		{"no line", diag.Problem{File: "a.rules"}, ""},
		{"a line that is gone", diag.Problem{File: write("d.rules", "block rm"), Line: 3, Column: 1}, ""},
		{"a column that is gone", diag.Problem{File: write("e.rules", "block rm"), Line: 1, Column: 9}, ""},
		{"a file that is gone", diag.Problem{File: filepath.Join(dir, "none"), Line: 1, Column: 1}, ""},
		{"control characters", diag.Problem{File: write("f.rules", "block \x1b[2J"), Line: 1, Column: 1}, "    block \\u{1b}[2J\n    ^"},
		{"a long line", diag.Problem{File: write("g.rules", "block "+strings.Repeat("x", 300)), Line: 1, Column: 1}, "    block " + strings.Repeat("x", 74) + "\n    ^"},
	}
	for _, tt := range tests {
		if got := tt.p.SourceLine(); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestInkIsForTerminals(t *testing.T) {
	if got := newInk(&bytes.Buffer{}).In(text.Red, "x"); got != "x" {
		t.Errorf("got %q", got)
	}
	if got := text.Ink(true).In(text.Red, "x"); got != "\x1b[31mx\x1b[0m" {
		t.Errorf("got %q", got)
	}
}
