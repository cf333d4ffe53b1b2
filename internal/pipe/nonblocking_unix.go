//go:build unix

package pipe

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// nonblocking reports whether the file is in non-blocking mode.
func nonblocking(raw syscall.RawConn) (yes bool) {
	err := raw.Control(func(fd uintptr) {
		flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0)
		yes = err == nil && flags&unix.O_NONBLOCK != 0
	})
	return yes && err == nil
}
