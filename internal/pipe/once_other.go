//go:build !unix

package pipe

import (
	"os"
	"syscall"
)

// nonblocking: nothing can be told without waiting.
func nonblocking(syscall.RawConn) bool { return false }

func readOnce(uintptr, []byte) (int, error) { return 0, syscall.EAGAIN }

func writeOnce(uintptr, []byte) (int, error) { return 0, syscall.EAGAIN }

// Own gives f: no end of a pipe can be opened twice.
func Own(f *os.File) *os.File { return f }
