//go:build unix && !linux

package pipe

import (
	"os"
	"syscall"
)

// once makes a single system call that reads into b or writes b. The file must be in non-blocking
// mode.
func once(fd uintptr, b []byte, write bool) (int, error) {
	call := syscall.Read
	if write {
		call = syscall.Write
	}
	for {
		n, err := call(int(fd), b)
		if err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}

// Reopen returns f, because these systems cannot open the end of a pipe a second time.
func Reopen(f *os.File) *os.File { return f }
