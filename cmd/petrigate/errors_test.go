package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// long is a file name that is so long that no temporary name derived from it is valid.
var long = strings.Repeat("a", 245) + ".rules"

// failingCommands contains command lines that are valid but fail. Leading words with a "=" set
// environment variables.
var failingCommands = [][]string{
	{"status"},
	{"analyze", "one.yaml"},
	{"check", "a.rules", "--tools", "notes.txt"},
	{"TMPDIR=none", "demo"},
	{"explain", "b", "--rules", "c.rules", "--after", "a,c"},
	{"fmt", "empty"},
	{"fmt", "deep"},
	{"fmt", "-w", long},
	{"fmt", "-"},
	{"test", "links"},
	{"login", "--config", "others.yaml", "robot"},
	{"login", "--config", "others.yaml", "fixed"},
	{"login", "--config", "others.yaml", "closed"},
	{"login", "--config", "others.yaml", "local"},
	{"HOME=", "XDG_STATE_HOME=", "login", "--config", "others.yaml", "notes"},
	{"wrap", "--name", "a\tb", "--", "server"},
	{"HOME=", "import", "cursor"},
	{"HOME=/nowhere", "XDG_CONFIG_HOME=", "PETRIGATE_CONFIG=", "connect", "cursor"},
}

// TestRunErrorsMatchGolden compares the messages of all failing commands with the golden file.
func TestRunErrorsMatchGolden(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the files are those of a Unix system")
	}
	golden, err := os.ReadFile("testdata/errors.txt")
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	filesOfErrors(t)
	t.Setenv("PETRIGATE_RUNTIME_DIR", filepath.Join(dir, "run"))
	var b strings.Builder
	for _, line := range failingCommands {
		fmt.Fprintf(&b, "%s\n%s\n", strings.ReplaceAll(strings.Join(line, " "), "\t", `\t`), strings.ReplaceAll(failure(t, line), dir, "$WORK"))
	}
	if *updateScripts {
		t.Chdir(here)
		write(t, "testdata/errors.txt", b.String())
		return
	}
	if diff := cmp.Diff(string(golden), b.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func filesOfErrors(t *testing.T) {
	t.Helper()
	for _, dir := range []string{"empty", "links", "deep"} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("nowhere", "links/a_test.yaml"); err != nil {
		t.Fatal(err)
	}
	nested(t, "deep")
	write(t, "a.rules", "block rm\n")
	write(t, "c.rules", "require a before b\nblock c\n")
	write(t, long, "block   rm\n")
	write(t, "notes.txt", "not JSON\n")
	write(t, "one.yaml", "name: one\nplaces: [a]\ntransitions: [{ name: t, inputs: [a], outputs: [a], tools: [x] }]\n")
	write(t, "others.yaml", `mcpServers:
  robot: { url: "https://robot.example/mcp", oauth: { grant: client-credentials, clientId: x, clientSecret: hidden, issuer: "https://login.example" } }
  fixed: { url: "https://fixed.example/mcp", headers: { authorization: "Bearer hidden" } }
  closed: { url: "https://closed.example/mcp", oauth: false }
  local: { command: petrigate }
  notes: { url: "https://notes.example/mcp", oauth: { store: file } }
`)
}

// nested creates nested directories in dir until their path is too long for the operating system.
func nested(t *testing.T, dir string) {
	t.Helper()
	at, err := os.OpenRoot(dir)
	for range 20 {
		if err != nil {
			t.Fatal(err)
		}
		inner := strings.Repeat("a", 250)
		if err = at.Mkdir(inner, 0o700); err != nil {
			t.Fatal(err)
		}
		outer := at
		at, err = outer.OpenRoot(inner)
		_ = outer.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = at.Close()
}

// failure runs a command line and returns its messages and exit code.
func failure(t *testing.T, line []string) string {
	t.Helper()
	ctx := t.Context()
	for strings.Contains(line[0], "=") {
		name, value, _ := strings.Cut(line[0], "=")
		old := os.Getenv(name)
		t.Setenv(name, value)
		defer func() { t.Setenv(name, old) }()
		line = line[1:]
	}
	if line[0] == "analyze" {
		stopped, cancel := context.WithCancel(ctx)
		cancel()
		ctx = stopped
	}
	dir, err := os.Open(".") // a directory cannot be read as standard input
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = dir.Close() }()
	var out, errs bytes.Buffer
	code := run(ctx, line, stdio{in: dir, out: &out, err: &errs})
	if code == exitOK || out.Len() > 0 {
		t.Errorf("%q: exit code %d, output %q", line, code, out.String())
	}
	return fmt.Sprintf("%sexit code %d\n", errs.String(), code)
}
