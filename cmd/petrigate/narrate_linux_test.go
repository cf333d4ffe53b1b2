package main

import (
	"bufio"
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

// openTerminal returns both ends of a new pseudo-terminal.
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

// terminalCommand returns a wrap command with a rules file and the given flags. Its standard error
// is a terminal.
func terminalCommand(t *testing.T, theirs *os.File, rules, env string, flags ...string) *exec.Cmd {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.rules"), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("petrigate", append(append([]string{"wrap", "--rules", "a.rules"}, flags...), "--", "testserver")...)
	cmd.Dir, cmd.Stderr = dir, theirs
	cmd.Env = append(os.Environ(), "PETRIGATE_RUNTIME_DIR="+filepath.Join(dir, "run"), "XDG_STATE_HOME="+dir, "GORACE=atexit_sleep_ms=0", "TERM=xterm", env)
	return cmd
}

// outputAtTerminal runs wrap with the given flags and makes two calls over stdio; a rule blocks one
// of them. It returns what appears on the terminal.
func outputAtTerminal(t *testing.T, env string, flags ...string) string {
	t.Helper()
	ours, theirs := openTerminal(t)
	cmd := terminalCommand(t, theirs, "block danger\n", env, flags...)
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"safe"}}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"danger"}}` + "\n")
	cmd.Stdout = io.Discard
	var told strings.Builder
	var reading sync.WaitGroup
	reading.Go(func() { _, _ = io.Copy(&told, ours) }) // until the other end is closed
	err := cmd.Run()
	_ = theirs.Close()
	reading.Wait()
	if err != nil {
		t.Fatalf("%v: %s", err, told.String())
	}
	return told.String()
}

// TestTerminalShowsApproval checks that the terminal shows that a call is waiting, who has approved
// it, and how it ended, in this order. With --quiet, how it ended is missing.
func TestTerminalShowsApproval(t *testing.T) {
	for _, quiet := range []bool{false, true} {
		var flags []string
		if quiet {
			flags = append(flags, "--quiet")
		}
		told := outputOfApproval(t, flags...)
		want := []string{" wait testserver.safe ", " yes  testserver.safe "}
		if ends := []string{" pass testserver.safe ", " end  petrigate                 1 passed, 0 failed, 0 stopped, 1 asked"}; !quiet {
			want = append(want, ends...)
		} else if strings.Contains(told, ends[0]) || strings.Contains(told, " end ") {
			t.Errorf("it is not quiet:\n%s", told)
		}
		at := 0
		for _, w := range want {
			if i := strings.Index(told[at:], w); i >= 0 {
				at += i
			} else {
				t.Errorf("quiet %v: no %q at its place in:\n%s", quiet, w, told)
			}
		}
		if strings.Count(told, " wait ") != 1 || strings.Count(told, " yes ") != 1 || strings.Contains(told, "requested:") {
			t.Errorf("quiet %v: something is told twice:\n%s", quiet, told)
		}
	}
}

// outputOfApproval runs wrap with the given flags, makes a call that requires an approval, and
// approves it. It returns what appears on the terminal.
func outputOfApproval(t *testing.T, flags ...string) string {
	t.Helper()
	ours, theirs := openTerminal(t)
	cmd := terminalCommand(t, theirs, "require human-approval before safe\n", "NO_COLOR=1", flags...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = theirs.Close()
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // it is still running only if the test has failed
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"safe"}}`+"\n"); err != nil {
		t.Fatal(err)
	}
	var told strings.Builder
	lines := bufio.NewReader(ours)
	for line := ""; !strings.Contains(line, " wait "); told.WriteString(line) {
		if line, err = lines.ReadString('\n'); err != nil {
			t.Fatalf("%v: %s", err, told.String())
		}
	}
	_, id, _ := strings.Cut(told.String(), " ap_")
	id, _, _ = strings.Cut(id, " ")
	approve := exec.Command("petrigate", "approvals", "approve", "ap_"+id, "--yes")
	approve.Env = cmd.Env
	if said, err := approve.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil { // wait for the result
		t.Fatal(err)
	}
	_ = in.Close()
	_, _ = io.Copy(&told, lines) // until the proxy ends
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, told.String())
	}
	return told.String()
}

// TestTerminalShowsCalls checks that the terminal shows each call on a line, in color unless
// NO_COLOR is set, and that with --quiet it only shows problems.
func TestTerminalShowsCalls(t *testing.T) {
	plain := outputAtTerminal(t, "NO_COLOR=1")
	for _, want := range []string{" run  petrigate ", " up   testserver ", " stop testserver.danger ", "(a.rules:1", " end  petrigate"} {
		if !strings.Contains(plain, want) {
			t.Errorf("no %q in:\n%s", want, plain)
		}
	}
	if strings.Contains(plain, "\x1b") || strings.Contains(plain, "call refused") {
		t.Errorf("colours, or a line twice:\n%s", plain)
	}
	if got := outputAtTerminal(t, "NO_COLOR="); !strings.Contains(got, "\x1b[31mstop\x1b[0m testserver.danger ") {
		t.Errorf("no colours:\n%s", got)
	}
	if got := outputAtTerminal(t, "NO_COLOR=1", "--quiet"); strings.Contains(got, "petrigate ") || strings.Contains(got, "danger") {
		t.Errorf("it is not quiet:\n%s", got)
	}
}
