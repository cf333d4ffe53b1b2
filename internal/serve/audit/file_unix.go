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

// removed says whether the file has no name any more.
func removed(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink == 0
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
