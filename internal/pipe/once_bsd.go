//go:build unix && !linux

package pipe

import (
	"os"
	"syscall"
)

// readOnce reads the available data from fd, which must be in non-blocking mode.
func readOnce(fd uintptr, b []byte) (int, error) { return once(syscall.Read, fd, b) }

// writeOnce writes as much as fd accepts at once. fd must be in non-blocking mode.
func writeOnce(fd uintptr, b []byte) (int, error) { return once(syscall.Write, fd, b) }

func once(call func(fd int, b []byte) (int, error), fd uintptr, b []byte) (int, error) {
	for {
		n, err := call(int(fd), b)
		if err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}

// Reopen returns f, because on these systems the end of a pipe cannot be opened a second time.
func Reopen(f *os.File) *os.File { return f }
