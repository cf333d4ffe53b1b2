//go:build unix

package process

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// KeepFiles lets no child have the files that we were started with, beside the
// three streams: what we open ourselves no child gets anyway.
func KeepFiles() {
	names, _ := os.ReadDir("/dev/fd") // where it is not there, nothing can be done
	for _, name := range names {
		if fd, err := strconv.Atoi(name.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// writeOnce writes what fd, which does not block, takes at once.
func writeOnce(fd uintptr, b []byte) (int, error) {
	for {
		n, err := syscall.Write(int(fd), b)
		switch err {
		case syscall.EINTR:
			continue
		case syscall.EAGAIN:
			return 0, nil
		}
		return max(n, 0), err
	}
}

// readOnce reads what fd, which does not block, has at once: nothing at its end.
// waits says that there is nothing yet.
func readOnce(fd uintptr, b []byte) (n int, waits bool) {
	for {
		n, err := syscall.Read(int(fd), b)
		if err == syscall.EINTR {
			continue
		}
		return max(n, 0), err != nil
	}
}

// Terminate asks all processes of the child's group to end.
func Terminate(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
}

// Describe says how a process ended.
func Describe(s *os.ProcessState) string {
	if s == nil {
		return "the server's process is gone"
	}
	return "the server's process ended: " + s.String()
}
