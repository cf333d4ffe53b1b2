//go:build unix && !linux

package pipe

import (
	"os"
	"syscall"
)

// readOnce reads the available data from fd, which must be non-blocking.
func readOnce(fd uintptr, b []byte) (int, error) { return once(syscall.Read, fd, b) }

// writeOnce writes as much as fd, which must be non-blocking, accepts at once.
func writeOnce(fd uintptr, b []byte) (int, error) { return once(syscall.Write, fd, b) }

func once(call func(fd int, b []byte) (int, error), fd uintptr, b []byte) (int, error) {
	for {
		n, err := call(int(fd), b)
		if err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}

// Reopen returns f, because these systems cannot open an end of a pipe a second time.
func Reopen(f *os.File) *os.File { return f }
