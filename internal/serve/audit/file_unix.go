//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package audit

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// openFile never follows a link in the last element of path, and never waits:
// a named pipe that nobody reads must not hang the start.
// flags say more on how.
func openFile(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|flags, 0o600)
	switch {
	case errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.EMLINK):
		return nil, fmt.Errorf("%q is a symbolic link", path)
	case errors.Is(err, syscall.EISDIR):
		return nil, fmt.Errorf("%q is a directory", path)
	}
	return f, err
}

// state tells the size of the file, and whether it has no name any more: what is written to
// it then is lost.
func state(f *os.File) (size int64, removed bool, err error) {
	var stat syscall.Stat_t
	if err := syscall.Fstat(int(f.Fd()), &stat); err != nil {
		return 0, false, &os.PathError{Op: "stat", Path: f.Name(), Err: err}
	}
	return stat.Size, stat.Nlink == 0, nil
}

// lock waits until no other process has the file locked. Mostly none has: then the
// scheduler need not be told.
func lock(f *os.File) error {
	fd := f.Fd()
	if _, _, err := syscall.RawSyscall(syscall.SYS_FLOCK, fd, syscall.LOCK_EX|syscall.LOCK_NB, 0); err == 0 {
		return nil
	}
	for {
		err := syscall.Flock(int(fd), syscall.LOCK_EX)
		if err != syscall.EINTR {
			return err
		}
	}
}

func unlock(f *os.File) {
	_, _, _ = syscall.RawSyscall(syscall.SYS_FLOCK, f.Fd(), syscall.LOCK_UN, 0)
}
