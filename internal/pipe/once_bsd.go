//go:build unix && !linux

package pipe

import (
	"os"
	"syscall"
)

// readOnce reads what fd, which does not block, has at once.
func readOnce(fd uintptr, b []byte) (int, error) { return once(syscall.Read, fd, b) }

// writeOnce writes what fd, which does not block, takes at once.
func writeOnce(fd uintptr, b []byte) (int, error) { return once(syscall.Write, fd, b) }

func once(call func(fd int, b []byte) (int, error), fd uintptr, b []byte) (int, error) {
	for {
		n, err := call(int(fd), b)
		if err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}

// Own gives f: no end of a pipe can be opened twice.
func Own(f *os.File) *os.File { return f }
