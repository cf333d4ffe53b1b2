//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package audit

import (
	"os"
	"syscall"
)

// mapFile maps the first bytes of a file into memory, shared with all processes that map it. It
// returns nil if this is impossible.
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
