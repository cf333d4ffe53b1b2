//go:build !unix

package upstream

import (
	"os"
	"os/exec"
	"time"
)

// writeOnce is not available: everything goes through the flusher.
func writeOnce(uintptr, []byte) (int, error) { return 0, nil }

// readOnce is not available: what was not read in time is lost.
func readOnce(uintptr, []byte) (n int, waits bool) { return 0, true }

func isolate(*exec.Cmd) {}

func keepFiles() {}

func awaitExit(cmd *exec.Cmd) { _, _ = cmd.Process.Wait() }

func terminate(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

// killTree kills the child. Its own children are not known here, so nothing
// is proven.
func killTree(cmd *exec.Cmd, _ time.Time) bool {
	_ = cmd.Process.Kill()
	return false
}

func describe(s *os.ProcessState) string {
	if s == nil {
		return "the server's process is gone"
	}
	return "the server's process ended: " + s.String()
}

func widen(*os.File) {}
