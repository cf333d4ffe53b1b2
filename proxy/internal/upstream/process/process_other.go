//go:build !unix

package process

import (
	"os"
	"os/exec"
	"time"
)

func Isolate(*exec.Cmd) {}

func KeepFiles() {}

func AwaitExit(cmd *exec.Cmd) { _, _ = cmd.Process.Wait() }

func Terminate(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

// KillTree kills the child. It always returns false, because it cannot find the processes started
// by the child.
func KillTree(cmd *exec.Cmd, _ time.Time) bool {
	_ = cmd.Process.Kill()
	return false
}

func Widen(*os.File) {}
