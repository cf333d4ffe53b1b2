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

// lock waits until no other process has the file locked. Mostly none has: then the
// scheduler need not be told.
func lock(f *os.File) error {
	if tryFlock(f, syscall.LOCK_EX) {
		return nil
	}
	return flock(f, syscall.LOCK_EX)
}

func unlock(f *os.File) { tryFlock(f, syscall.LOCK_UN) }

// share has the file locked together with all others that share it.
func share(f *os.File) error {
	if tryFlock(f, syscall.LOCK_SH) {
		return nil
	}
	return flock(f, syscall.LOCK_SH)
}

// alone reports whether nobody else shares a file that is shared.
func alone(f *os.File) bool {
	yes := tryFlock(f, syscall.LOCK_EX)
	return share(f) == nil && yes // which was lost by the attempt
}

func tryFlock(f *os.File, how int) bool {
	_, _, err := syscall.RawSyscall(syscall.SYS_FLOCK, f.Fd(), uintptr(how|syscall.LOCK_NB), 0)
	return err == 0
}

func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if err != syscall.EINTR {
			return err
		}
	}
}
