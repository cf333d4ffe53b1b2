//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package safefile

import "io/fs"

func foreign(fs.FileInfo) bool { return false }

func ownedByRoot(fs.FileInfo) bool { return false }

func privateGroup(fs.FileInfo) bool { return false }

// SameOwner always returns true, because owners cannot be determined on this system.
func SameOwner(fs.FileInfo, fs.FileInfo) bool { return true }
