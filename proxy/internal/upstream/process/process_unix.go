//go:build unix

package process

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// KeepFiles prevents children from inheriting the files that were open when this process started,
// except for the three standard streams. Files opened by Go are never inherited.
func KeepFiles() {
	names, _ := os.ReadDir("/dev/fd") // ignore the error: some systems have no /dev/fd
	for _, name := range names {
		if fd, err := strconv.Atoi(name.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// Terminate sends SIGTERM to all processes in the child's group.
func Terminate(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
}

// KillTree keeps killing the child's processes until none are left, and reports whether it
// succeeded before the deadline. The child itself may remain as a zombie. KillTree cannot find
// processes that left the session after their parent died, and ignores them.
func KillTree(cmd *exec.Cmd, deadline time.Time) bool {
	pid := cmd.Process.Pid
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		alive := Tree(pid)
		if len(alive) == 0 {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
		for _, p := range alive {
			_ = syscall.Kill(p, syscall.SIGKILL)
		}
		time.Sleep(pause) //nolint:forbidigo // a killed process takes a moment to exit, and no event reports it
	}
}
