package demo

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/messagetest"
)

const handshake = `read line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"x","version":"1"}}}'; read line; `

// TestProgramIsNoProxy runs the demo with programs that do not behave like a proxy.
func TestProgramIsNoProxy(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs are scripts for a shell")
	}
	tests := []struct{ script, want string }{
		{"", "starting the proxy: failed to start command: fork/exec $EXE: no such file or directory"},
		{"read line; echo no net >&2; exit 3\n", "initializing a session with the proxy: transport error: transport closed\nthe proxy said:\nno net"},
		{handshake + "read line; exit 3\n", "running the demo: calling delete: transport error: transport closed"},
	}
	for _, test := range tests {
		exe := filepath.Join(t.TempDir(), "proxy")
		if test.script != "" {
			program(t, exe, test.script)
		}
		err := Run(t.Context(), exe, io.Discard, false)
		if got := strings.ReplaceAll(said(err), exe, "$EXE"); got != test.want {
			t.Errorf("%q: got %q, want %q", test.script, got, test.want)
		}
	}
}

// TestProxyExitIsReported checks that an error names the exit status of the proxy.
func TestProxyExitIsReported(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program is a script for a shell")
	}
	exe := filepath.Join(t.TempDir(), "proxy")
	program(t, exe, handshake+"read line; exit 3\n")
	a, err := startAgent(t.Context(), exe, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := said(a.close()), "stopping the proxy: exit status 3"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// program writes a shell script.
func program(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// TestFileErrors compares the error messages for files that cannot be created or are missing.
func TestFileErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := writeFiles("none", "petrigate"); !strings.HasPrefix(said(err), "writing the configuration of the demo: open none/") {
		t.Error(err)
	}
	tests := []struct{ audit, want string }{
		{"", "opening the audit log: open audit.jsonl: no such file or directory"},
		{"no JSON\n", "reading the audit log: "},
		{`{"Event":"decision","Decision":"allow"}` + "\n", "opening the record of the server: open calls.txt: no such file or directory"},
	}
	for _, test := range tests {
		if test.audit != "" {
			if err := os.WriteFile("audit.jsonl", []byte(test.audit), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := readRecords("."); !strings.HasPrefix(said(err), test.want) {
			t.Errorf("%q: got %v, want %q", test.audit, err, test.want)
		}
	}
	t.Setenv("TMPDIR", "none")
	if err := Run(t.Context(), "petrigate", io.Discard, false); !strings.HasPrefix(said(err), "creating a directory for the demo: ") {
		t.Error(err)
	}
}

// TestEveryError finds errors that no test covers.
func TestEveryError(t *testing.T) {
	messagetest.CheckCalls(t, []string{"errors.New", "fmt.Errorf"}, messagetest.Tables(t, "*_test.go"), nil, "*.go")
}

// said returns the text of an error, or "" for nil.
func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
