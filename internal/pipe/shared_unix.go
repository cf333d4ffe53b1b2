//go:build unix

package pipe

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A Shared is a file that others have too, so that it has to stay as it is, whether that
// blocks or not. They may change that at any time, as Node does with what it gives its
// children: a Shared then waits where a plain file would fail. One goroutine may read it and
// one may write it, at the same time.
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

// wait returns once there is something to read, or room to write, or the other end is gone.
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

// SetWriteDeadline ends what is written at t. A socket that blocks is not used for writing
// after that: whoever waits in a write is told.
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
