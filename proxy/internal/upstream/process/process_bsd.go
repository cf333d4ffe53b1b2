//go:build unix && !linux

package process

import (
	"os"
	"os/exec"
	"syscall"
)

// Isolate gives the child a session of its own.
func Isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

// AwaitExit waits until the process has ended.
func AwaitExit(cmd *exec.Cmd) { _, _ = cmd.Process.Wait() }

// Tree names the group of the child pid, if anything of it is left.
func Tree(pid int) []int {
	if syscall.Kill(-pid, 0) == syscall.ESRCH {
		return nil
	}
	return []int{-pid}
}

func Widen(*os.File) {}
