package audit

import (
	"os"

	"golang.org/x/sys/unix"
)

// allocate sets the file's length and reserves the disk space, so that writes to it cannot run out
// of space.
func allocate(f *os.File, length int) error { return unix.Fallocate(int(f.Fd()), 0, 0, int64(length)) }
