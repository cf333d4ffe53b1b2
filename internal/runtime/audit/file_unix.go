//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package audit

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// openFile opens or creates a file, with additional flags. It does not follow a symbolic link, and
// it does not wait for a reader of a named pipe, so that the program cannot hang at startup.
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

// lock acquires the exclusive lock on the file, waiting if necessary.
func lock(f *os.File) error { return flock(f, syscall.LOCK_EX) }

func unlock(f *os.File) { tryFlock(f, syscall.LOCK_UN) }

// share acquires a shared lock on the file, waiting if necessary.
func share(f *os.File) error { return flock(f, syscall.LOCK_SH) }

// alone reports whether this process is the only one with a shared lock on the file. The caller
// must hold such a lock.
func alone(f *os.File) bool {
	yes := tryFlock(f, syscall.LOCK_EX)
	return share(f) == nil && yes // the exclusive lock replaced the shared one, which must be acquired again
}

func tryFlock(f *os.File, how int) bool {
	_, _, err := syscall.RawSyscall(syscall.SYS_FLOCK, f.Fd(), uintptr(how|syscall.LOCK_NB), 0)
	return err == 0
}

// flock acquires a lock on the file. It first tries without blocking, because that usually succeeds
// and does not involve the Go scheduler.
func flock(f *os.File, how int) error {
	if tryFlock(f, how) {
		return nil
	}
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if err != syscall.EINTR {
			return err
		}
	}
}

// mapFile maps the first length bytes of the file into memory shared between processes. It returns
// nil if that fails.
func mapFile(f *os.File, length int) []byte {
	info, err := f.Stat()
	if err == nil && info.Size() != int64(length) {
		err = f.Truncate(int64(length))
	}
	if err != nil {
		return nil
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, length, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil
	}
	return b
}

func unmapFile(b []byte) {
	if b != nil {
		_ = syscall.Munmap(b)
	}
}
