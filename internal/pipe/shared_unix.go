//go:build unix

package pipe

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A Shared is a file that other processes may set to non-blocking mode at any time, as Node does
// for files that it passes to its children. Read and Write wait instead of returning EAGAIN. One
// goroutine may read while another writes.
type Shared struct{ *os.File }

// Read implements [io.Reader].
func (s Shared) Read(b []byte) (int, error) {
	for {
		n, err := s.File.Read(b)
		if !errors.Is(err, unix.EAGAIN) {
			return n, err
		}
		if err := s.wait(unix.POLLIN); err != nil {
			return n, err
		}
	}
}

// Write implements [io.Writer].
func (s Shared) Write(b []byte) (int, error) {
	written := 0
	for {
		n, err := s.File.Write(b[written:])
		written += n
		if !errors.Is(err, unix.EAGAIN) {
			return written, err
		}
		if err := s.wait(unix.POLLOUT); err != nil {
			return written, err
		}
	}
}

// wait waits until the file is ready for reading or writing, or until the other end is closed.
func (s Shared) wait(events int16) error {
	raw, err := s.SyscallConn()
	if err != nil {
		return err
	}
	outer := raw.Control(func(fd uintptr) {
		for {
			_, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: events}}, -1)
			if err != unix.EINTR {
				return
			}
		}
	})
	return errors.Join(outer, err)
}

// SetWriteDeadline makes writes fail after time t. A socket is shut down for writing at t, which
// also ends a blocked write.
func (s Shared) SetWriteDeadline(t time.Time) error {
	if info, err := s.Stat(); err != nil || info.Mode()&os.ModeSocket == 0 {
		return s.File.SetWriteDeadline(t)
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return err
	}
	time.AfterFunc(time.Until(t), func() {
		_ = raw.Control(func(fd uintptr) { _ = unix.Shutdown(int(fd), unix.SHUT_WR) })
	})
	return nil
}
