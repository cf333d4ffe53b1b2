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

// Tree returns the negated ID of the child's process group, if the group still has any processes.
func Tree(pid int) []int {
	if syscall.Kill(-pid, 0) == syscall.ESRCH {
		return nil
	}
	return []int{-pid}
}

func Widen(*os.File) {}
