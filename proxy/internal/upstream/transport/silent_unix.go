//go:build unix

package transport

import (
	"errors"
	"net"
	"syscall"
)

// canPeek says that a connection can be looked at without waiting.
const canPeek = true

// silent reports whether the peer has neither closed an idle connection nor
// said anything on it.
func silent(conn net.Conn) bool {
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
		return true // never wait
	})
	return err == nil && quiet
}
