package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// openTerminal returns the two sides of a new pseudo-terminal.
func openTerminal(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = ours.Close() })
	if err := unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetUint32(int(ours.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return ours, theirs
}

// toldAtTerminal is what wrap with these flags says at a terminal of two calls over stdio,
// of which a rule blocks one.
func toldAtTerminal(t *testing.T, env string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.rules"), []byte("block danger\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ours, theirs := openTerminal(t)
	cmd := exec.Command("petrigate", append(append([]string{"wrap", "--rules", "a.rules"}, flags...), "--", "testserver")...)
	cmd.Dir, cmd.Stderr = dir, theirs
	cmd.Env = append(os.Environ(), "PETRIGATE_RUNTIME_DIR="+filepath.Join(dir, "run"), "XDG_STATE_HOME="+dir, "GORACE=atexit_sleep_ms=0", "TERM=xterm", env)
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"safe"}}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"danger"}}` + "\n")
	cmd.Stdout = io.Discard
	var told strings.Builder
	var reading sync.WaitGroup
	reading.Go(func() { _, _ = io.Copy(&told, ours) }) // until the other side is closed
	err := cmd.Run()
	_ = theirs.Close()
	reading.Wait()
	if err != nil {
		t.Fatalf("%v: %s", err, told.String())
	}
	return told.String()
}

// TestNarrated: at a terminal each call is told on a line, in colour unless somebody does not
// want that, and with --quiet only problems are.
func TestNarrated(t *testing.T) {
	plain := toldAtTerminal(t, "NO_COLOR=1")
	for _, want := range []string{" run  petrigate ", " up   testserver ", " stop testserver.danger ", "(a.rules:1", " end  petrigate"} {
		if !strings.Contains(plain, want) {
			t.Errorf("no %q in:\n%s", want, plain)
		}
	}
	if strings.Contains(plain, "\x1b") || strings.Contains(plain, "call refused") {
		t.Errorf("colours, or a line twice:\n%s", plain)
	}
	if got := toldAtTerminal(t, "NO_COLOR="); !strings.Contains(got, "\x1b[31mstop\x1b[0m testserver.danger ") {
		t.Errorf("no colours:\n%s", got)
	}
	if got := toldAtTerminal(t, "NO_COLOR=1", "--quiet"); strings.Contains(got, "petrigate ") || strings.Contains(got, "danger") {
		t.Errorf("it is not quiet:\n%s", got)
	}
}
