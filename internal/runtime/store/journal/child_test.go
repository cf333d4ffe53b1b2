package journal

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"testing"
)

// roles maps each role of a child process to its function. A child process runs this test binary
// again.
func roles() map[string]func(path string) error {
	all := map[string]func(path string) error{"fair": fair, "spend": spend}
	maps.Copy(all, limits())
	return all
}

const (
	childRole = "PETRIGATE_TEST_CHILD"
	childPath = "PETRIGATE_TEST_DATABASE"
)

// runChild runs the role of this process and then exits. It does nothing if this process is not a
// child.
func runChild() {
	role := os.Getenv(childRole)
	if role == "" {
		return
	}
	if err := roles()[role](os.Getenv(childPath)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// A child is another process that uses the same database.
type child struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	line *bufio.Scanner
}

// start starts a child, which is killed at the end of the test if it is still running.
func start(t *testing.T, role, path string, more ...string) *child {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), childRole+"="+role, childPath+"="+path), more...)
	cmd.Stderr = os.Stderr
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
	c := &child{cmd, in, bufio.NewScanner(out)}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return c
}

// read returns the next line of the child's output, or an empty line if the child has ended.
func (c *child) read() string {
	if !c.line.Scan() {
		return ""
	}
	return c.line.Text()
}

// end waits for the child to end.
func (c *child) end(t *testing.T) {
	t.Helper()
	_ = c.in.Close()
	for c.line.Scan() {
	}
	if err := c.cmd.Wait(); err != nil {
		t.Error(err)
	}
}
