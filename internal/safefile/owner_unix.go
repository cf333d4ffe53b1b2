//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package safefile

import (
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// foreign reports whether the file belongs to a user other than the current one.
func foreign(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid != uint32(os.Geteuid())
}

// ownedByRoot reports whether the file belongs to root, who can change all files anyway.
func ownedByRoot(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid == 0
}

// SameOwner reports whether two files belong to the same user.
func SameOwner(a, b fs.FileInfo) bool {
	one, ok := a.Sys().(*syscall.Stat_t)
	other, also := b.Sys().(*syscall.Stat_t)
	return !ok || !also || one.Uid == other.Uid
}

// privateGroup reports whether the file's group is the current user's private group. Many systems
// create such a group for each user, with the user's number and name.
func privateGroup(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(stat.Gid) != os.Geteuid() {
		return false
	}
	id := strconv.Itoa(os.Geteuid())
	me, err := user.LookupId(id)
	if err != nil {
		return false
	}
	group, err := user.LookupGroupId(id)
	return err == nil && group.Name == me.Username
}
