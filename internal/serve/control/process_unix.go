//go:build unix

package control

import (
	"errors"
	"os"
	"syscall"
)

// owned reports whether the file belongs to this user.
func owned(info os.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Getuid()
}

// exposed reports whether other users can access the directory.
func exposed(info os.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }

// running reports whether the process exists.
func running(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
