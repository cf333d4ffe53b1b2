//go:build !unix

package pipe

import (
	"os"
	"syscall"
)

// nonblocking returns false, because the mode cannot be determined on this system.
func nonblocking(syscall.RawConn) bool { return false }

func once(uintptr, []byte, bool) (int, error) { return 0, syscall.EAGAIN }

// Reopen returns f, because these systems cannot open the end of a pipe a second time.
func Reopen(f *os.File) *os.File { return f }
