//go:build unix

package daemon

import (
	"math"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxFiles returns the maximum number of open files, which includes open connections.
func maxFiles() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return math.MaxInt32
	}
	return int(min(uint64(limit.Cur), math.MaxInt32)) //nolint:unconvert // Cur is an int64 on some systems
}

// isPrivateDir reports whether path is a directory that only the current user can access.
func isPrivateDir(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.IsDir() && info.Mode().Perm() == 0o700 && int(owner.Uid) == os.Getuid()
}

// hasModes is true, because on this operating system a file's mode determines who can read it.
const hasModes = true

// ownedByRoot reports whether the file belongs to root while this process runs as another user.
func ownedByRoot(info os.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Uid == 0 && os.Geteuid() != 0
}
