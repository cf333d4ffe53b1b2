//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package safefile

import (
	"io/fs"
	"os"
	"syscall"
)

// foreign says whether the file is another user's, who could then change it.
func foreign(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid != uint32(os.Geteuid())
}
