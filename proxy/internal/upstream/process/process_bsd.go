//go:build unix && !linux

package process

import (
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Isolate gives the child a session of its own.
func Isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

// AwaitExit waits until the process has ended.
func AwaitExit(cmd *exec.Cmd) { _, _ = cmd.Process.Wait() }

// KillTree kills the child's group until nothing of it is left, and reports
// whether that was achieved by the deadline.
func KillTree(cmd *exec.Cmd, deadline time.Time) bool {
	pid := cmd.Process.Pid
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		if syscall.Kill(-pid, 0) == syscall.ESRCH {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(pause)
	}
}

func Widen(*os.File) {}
