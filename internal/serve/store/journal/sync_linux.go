package journal

import (
	"os"

	"golang.org/x/sys/unix"
)

// sync may be called while another goroutine closes the file: then the number that the system knows it by
// may be that of another one already.
func (f *machineFile) sync() error {
	c, err := f.SyscallConn()
	if err != nil {
		return err
	}
	err = os.ErrClosed
	_ = c.Control(func(fd uintptr) {
		for err = unix.EINTR; err == unix.EINTR; {
			err = unix.Fdatasync(int(fd))
		}
	}) // whose only error is that it is closed
	return err
}
