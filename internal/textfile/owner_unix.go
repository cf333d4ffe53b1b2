//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package textfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a new file the owner and group of the file that it replaces. It returns an error
// if the owner is another user and cannot be set. Failing to set only the group is not an error.
func keepOwner(f *os.File, old fs.FileInfo) error {
	stat, ok := old.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	err := f.Chown(int(stat.Uid), int(stat.Gid))
	if errors.Is(err, fs.ErrPermission) && stat.Uid != uint32(os.Geteuid()) { //nolint:gosec // user IDs are not negative
		return errors.New("it belongs to another user, who alone can replace it")
	}
	return nil
}

// Linked reports whether the file has several names (hard links).
func Linked(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink > 1
}
