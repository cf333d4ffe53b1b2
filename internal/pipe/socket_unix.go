//go:build unix

package pipe

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A Socket writes a socket that blocks, and that others may have too, so that it has to stay as
// it is. Programs of Node give their children such ones.
type Socket struct{ *os.File }

// AsSocket gives f as a [Socket], if it is one.
func AsSocket(f *os.File) (s Socket, ok bool) {
	info, err := f.Stat()
	return Socket{f}, err == nil && info.Mode()&os.ModeSocket != 0
}

// SetWriteDeadline ends what is written to the socket at t, and its use for writing: whoever
// waits in a write is told.
func (s Socket) SetWriteDeadline(t time.Time) error {
	raw, err := s.SyscallConn()
	if err != nil {
		return err
	}
	time.AfterFunc(time.Until(t), func() {
		_ = raw.Control(func(fd uintptr) { _ = unix.Shutdown(int(fd), unix.SHUT_WR) })
	})
	return nil
}
