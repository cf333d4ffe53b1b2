//go:build !unix

package pipe

import (
	"os"
	"syscall"
)

// nonblocking returns false: this system offers no test.
func nonblocking(syscall.RawConn) bool { return false }

func readOnce(uintptr, []byte) (int, error) { return 0, syscall.EAGAIN }

func writeOnce(uintptr, []byte) (int, error) { return 0, syscall.EAGAIN }

// Reopen returns f, because these systems cannot open an end of a pipe a second time.
func Reopen(f *os.File) *os.File { return f }
