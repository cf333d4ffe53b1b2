//go:build unix

package transport

import (
	"errors"
	"net"
	"syscall"
)

// canPeek is true, because a connection's state can be checked without blocking.
const canPeek = true

// isIdleOpen reports whether an idle connection is still open and has received no unexpected data.
func isIdleOpen(conn net.Conn) bool {
	s, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return false
	}
	quiet := false
	err = raw.Read(func(fd uintptr) bool {
		var b [1]byte
		_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		quiet = errors.Is(err, syscall.EAGAIN)
		return true // do not wait for data, because the check must never block
	})
	return err == nil && quiet
}
