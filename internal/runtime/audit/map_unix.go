//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package audit

import (
	"os"
	"syscall"
)

// mapFile returns the first bytes of a file, shared with all processes that have it open;
// nil: it has to be written by calls of the system.
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
