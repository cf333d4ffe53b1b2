//go:build unix && !linux

package process

import (
	"os"
	"os/exec"
	"syscall"
)

// Isolate makes the child run in a new session.
func Isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

// AwaitExit waits until the process has ended.
func AwaitExit(cmd *exec.Cmd) { _, _ = cmd.Process.Wait() }

// Tree returns a slice that contains only the ID of the child's process group, negated for use with
// kill. If the group is empty, it returns nil.
func Tree(pid int) []int {
	if syscall.Kill(-pid, 0) == syscall.ESRCH {
		return nil
	}
	return []int{-pid}
}

func Widen(*os.File) {}
