//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package quickfile

import (
	"os"
	"syscall"
)

// Removed reports whether the file no longer has a name.
func Removed(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink == 0
}
